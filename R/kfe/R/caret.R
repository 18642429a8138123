# SPDX-License-Identifier: Apache-2.0
# kfe_caret(): a model list for train() of the package caret.

kfe_caret <- function(method, learner = NULL, tune = NULL, ...) {
  fixed <- list(...)
  check_named(fixed)
  spec <- make_spec(if (!missing(method)) method, fixed$kernel, learner, fixed[setdiff(names(fixed), "kernel")])
  entry <- find_entry("method", spec$method)
  if (is.null(learner) && !has_flag(entry$flags, "predicts"))
    stop_kfe(sprintf("method %s gives features only; name a learner, such as learner = \"svm\"", spec$method), "argument")
  list(
    label = paste(c(spec$method, spec$learner), collapse = " with "), library = "kfe",
    type = c("Classification", if (has_flag(entry$flags, "regression") || !has_flag(entry$flags, "supervised")) "Regression"),
    parameters = caret_parameters(spec, tune), grid = caret_grid(spec, tune),
    fit = caret_fit(method, learner, fixed), predict = caret_predict, prob = caret_prob,
    levels = function(x) x$levels, predictors = function(x, ...) x$schemas[[1]]$names, tags = c("Kernel Method", "Feature Extraction"),
    sort = function(x) x[do.call(order, unname(as.list(x))), , drop = FALSE]
  )
}

# Without a list of values, the number of features is tuned, if the method has one.
tuned_names <- function(spec, tune) {
  if (!is.null(tune)) {
    check_named(tune)
    return(names(tune))
  }
  if ("dim" %in% entry_params("method", spec$method)$name) "dim" else "parameter"
}

caret_parameters <- function(spec, tune) {
  names <- tuned_names(spec, tune)
  kinds <- if (is.null(tune)) rep(if (names == "dim") "numeric" else "character", length(names))
           else vapply(tune, function(values) if (is.numeric(values)) "numeric" else "character", "")
  data.frame(parameter = names, class = unname(kinds), label = names, stringsAsFactors = FALSE)
}

caret_grid <- function(spec, tune) {
  names <- tuned_names(spec, tune)
  function(x, y, len = NULL, search = "grid") {
    if (!is.null(tune)) return(expand.grid(tune, stringsAsFactors = FALSE))
    if (names == "parameter") return(data.frame(parameter = "none", stringsAsFactors = FALSE))
    most <- if (is.factor(y)) max(1L, nlevels(y) - 1L) else ncol(x)
    data.frame(dim = unique(round(seq(1, max(1, most), length.out = max(1, len)))))
  }
}

caret_fit <- function(method, learner, fixed) {
  function(x, y, wts, param, lev, last, classProbs, ...) {
    chosen <- lapply(as.list(param), function(value) if (is.factor(value)) as.character(value) else value)
    chosen <- chosen[names(chosen) != "parameter"]
    # caret asks the last model for probabilities, whatever classProbs says
    can <- !is.numeric(y) && all(table(factor(y)) > 1) # a calibration leaves examples out
    if (is.null(fixed$calibration) && (isTRUE(classProbs) || isTRUE(last) && can)) chosen$calibration <- "platt"
    if (is.numeric(y)) chosen$task <- "regress"
    chosen$weights <- wts
    do.call(kfe, c(list(x, y, method = method, learner = learner), fixed[setdiff(names(fixed), names(chosen))], chosen, list(...)))
  }
}

caret_predict <- function(modelFit, newdata, preProc = NULL, submodels = NULL) unname(stats::predict(modelFit, newdata))

caret_prob <- function(modelFit, newdata, preProc = NULL, submodels = NULL) {
  as.data.frame(stats::predict(modelFit, newdata, type = "prob"))
}
