# SPDX-License-Identifier: Apache-2.0
# What R's generic functions say about the training data. A model keeps none of it, so its call is evaluated again.

# The training examples: list(x =, y =, weights =, frame =, omitted =).
training_of <- function(object, env) {
  call <- object$call
  if (is.null(call) || identical(call[[1]], as.name("kfe_load")))
    stop_kfe("a model of a file does not know its training data; use predict() with the data", "argument")
  given <- function(name) {
    tryCatch(eval(call[[name]], env), error = function(e)
      stop_kfe(sprintf("a model keeps no training data, and %s of its call is not found (%s); use predict() with the data", name,
                       conditionMessage(e)), "argument"))
  }
  if (is.null(object$terms)) {
    found <- list(x = given("x"), y = given("y"), weights = given("weights"))
  } else {
    formula <- given("formula")
    found <- frame_of(formula, given("data"), list(subset = call$subset, weights = call$weights), given("na.action"))
  }
  if (identical(given("missing"), "drop")) found <- without_gaps(found)
  if (count_rows(found$x) != object$rows)
    stop_kfe(sprintf("the data of the call has %d rows now, but the model was fitted on %d; use predict() with the data",
                     count_rows(found$x), object$rows))
  found
}

without_gaps <- function(found) {
  gaps <- rows_with_gaps(found$x, found$y)
  found$x <- take_rows(found$x, !gaps)
  if (!is.null(found$y)) found$y <- take_rows(found$y, !gaps)
  if (!is.null(found$weights)) found$weights <- found$weights[!gaps]
  if (!is.null(found$frame)) found$frame <- found$frame[!gaps, , drop = FALSE]
  found
}

# Predictions for the training examples, whose columns the formula has made already.
predict_training <- function(object, training, type = NULL) {
  object$terms <- NULL
  stats::predict(object, training$x, type = type)
}

# The methods below are also those of searches, which have a model.

fitted.kfe <- function(object, type = NULL, ...) {
  object <- model_of(object)
  training <- training_of(object, parent.frame())
  stats::napredict(training$omitted, predict_training(object, training, type))
}

residuals.kfe <- function(object, ...) {
  object <- model_of(object)
  if (!object$predicts) stop_kfe("the model gives features only; fit it with a learner, such as learner = \"ls\"", "argument")
  if (object$task == "classify" && is.null(object$calibration))
    stop_kfe(paste("residuals of classes are those of probabilities, so fit the model with calibration = \"platt\"; table(fitted(model), y)",
                   "compares classes"), "argument")
  training <- training_of(object, parent.frame())
  stats::naresid(training$omitted, differences(object, training))
}

# Numbers: target less prediction. Classes: 1 for the class of the example, 0 for the others, less their probabilities.
differences <- function(object, training) {
  if (object$task == "classify") {
    shares <- predict_training(object, training, "prob")
    return(outer(label_texts(training$y), colnames(shares), "==") - shares)
  }
  y <- check_target(training$y, object$rows)
  found <- predict_training(object, training)
  if (is.matrix(y)) y - unname(found) else as.numeric(y) - found
}

nobs.kfe <- function(object, ...) model_of(object)$rows

weights.kfe <- function(object, ...) {
  training <- training_of(model_of(object), parent.frame())
  if (!is.null(training$weights)) stats::naresid(training$omitted, as.numeric(training$weights))
}

formula.kfe <- function(x, ...) stats::formula(terms_of(x))

terms.kfe <- function(x, ...) terms_of(x)

model.frame.kfe <- function(formula, ...) {
  terms_of(formula)
  training_of(model_of(formula), parent.frame())$frame
}

terms_of <- function(object) {
  object <- model_of(object)
  if (is.null(object$terms)) stop_kfe("the model was fitted on x and y, without a formula", "argument")
  object$terms
}
