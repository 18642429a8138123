# SPDX-License-Identifier: Apache-2.0
# Features and predictions of new data.

# The description of new data for a model, with its columns in the model's order.
describe_new <- function(object, newdata) {
  if (missing(newdata) || is.null(newdata))
    stop_kfe("newdata is missing; a model keeps no training data", "argument")
  if (is_views(newdata) && is.null(names(object$schemas))) newdata <- frame_of_list(newdata)
  if (!is.null(object$terms)) newdata <- columns_for(object, newdata)
  one_row <- is.numeric(newdata) && is.null(dim(newdata)) && identical(length(newdata), object$schemas[[1]]$cols)
  if (one_row) newdata <- matrix(newdata, nrow = 1)
  strings <- any(vapply(object$schemas, function(schema) schema$kind == "text", TRUE))
  data <- describe_x(newdata, object$schemas, strings, "newdata")
  if (identical(object$fills, FALSE))
    refuse_missing(data, "newdata", "fill it in, or fit the model with missing = \"mean\"")
  data
}

# A named list of columns where one table is expected.
frame_of_list <- function(x) {
  columns <- length(x) > 0 && !is.null(names(x)) && all(nzchar(names(x))) && all(vapply(x, is.atomic, TRUE)) &&
    length(unique(lengths(x))) == 1
  if (!columns) stop_kfe("newdata is a list, but the model was fitted on one table; give a data frame or a matrix")
  data.frame(x, check.names = FALSE, stringsAsFactors = FALSE)
}

run_settings <- function(object) object$settings

# The names of the rows of new data, if they say something.
row_labels <- function(newdata) {
  if (is_views(newdata)) newdata <- newdata[[1]]
  if (is.data.frame(newdata) && is.integer(attr(newdata, "row.names"))) return(NULL)
  if (is.null(dim(newdata))) names(newdata) else rownames(newdata)
}

kfe_transform <- function(object, newdata) {
  object <- model_of(object)
  handle <- handle_of(object)
  data <- describe_new(object, newdata)
  features <- if (data$views[[1]]$rows == 0) matrix(0, 0, object$dim) else native("transform", run_settings(object), handle, data)
  dimnames(features) <- list(if (nrow(features) > 0) row_labels(newdata), object$features)
  features
}

kfe_inverse <- function(object, features) {
  object <- model_of(object)
  features <- as.matrix(features)
  if (!is.numeric(features)) stop_kfe("features must be numbers", "argument")
  storage.mode(features) <- "double"
  rows <- native("inverse", run_settings(object), handle_of(object), features)
  names <- unlist(lapply(facts_of(object)$views, function(view) view$names))
  dimnames(rows) <- list(rownames(features), if (length(names) == ncol(rows)) names)
  rows
}

TYPES <- c("features", "class", "response", "scores", "prob", "interval", "path")

predict.kfe <- function(object, newdata, type = NULL, level = 0.9, ...) {
  refuse_unknown(names(list(...)), "predict", c("newdata", "type", "level"))
  handle <- handle_of(object)
  type <- check_type(object, type)
  if (type == "features") return(kfe_transform(object, newdata))
  data <- describe_new(object, newdata)
  if (data$views[[1]]$rows == 0) return(no_predictions(object, type))
  kind <- if (type %in% c("class", "response")) "answer" else type
  if (!is.numeric(level) || length(level) != 1) stop_kfe("level must be a number between 0 and 1", "argument")
  found <- native("predict", run_settings(object), handle, data, kind, level)
  answer_of(object, type, found, row_labels(newdata))
}

check_type <- function(object, type) {
  if (is.null(type)) return(if (!object$predicts) "features" else if (object$task == "classify") "class" else "response")
  type <- one_string(type, "type")
  if (type == "raw") type <- "class"
  type <- one_of(type, TYPES, "type")
  if (type != "features" && !object$predicts)
    stop_kfe(sprintf("the model gives features only; fit it with a learner, such as learner = \"svm\", for type = \"%s\"", type),
             "argument")
  if (type == "class" && object$task != "classify")
    stop_kfe("the model predicts numbers, not classes; use type = \"response\"", "argument")
  if (type == "prob" && is.null(object$calibration))
    stop_kfe("the model has no probabilities; fit it with calibration = \"platt\" or \"isotonic\"", "argument")
  type
}

# Class numbers of the library as a factor with the user's levels.
as_classes <- function(object, numbers) factor(object$classes[numbers + 1], levels = object$levels, ordered = isTRUE(object$ordered))

answer_of <- function(object, type, found, labels) {
  if (type == "prob" || type == "scores") return(named_scores(object, found, type, labels))
  values <- found[[1]]
  if (type == "interval") return(intervals_of(object, values, found[[2]], labels))
  if (type == "path") return(path_of_answers(object, values, labels))
  if (object$task == "classify") {
    answer <- as_classes(object, values[, 1])
    if (!is.null(labels)) names(answer) <- labels
    return(answer)
  }
  if (ncol(values) == 1) return(stats::setNames(values[, 1], labels))
  dimnames(values) <- list(labels, object$targets)
  values
}

named_scores <- function(object, found, type, labels) {
  values <- found[[2]]
  if (object$task != "classify") values <- found[[1]]
  known <- ncol(values) == length(object$classes) && object$task == "classify"
  dimnames(values) <- list(labels, if (known) object$classes)
  if (known) values <- values[, order(match(object$classes, object$levels)), drop = FALSE]
  values
}

# Numbers: the prediction and the ends of its interval, as predict() of lm names them; classes: whether each is in the set.
intervals_of <- function(object, values, ends, labels) {
  if (object$task == "classify") {
    dimnames(ends) <- list(labels, object$classes)
    return(ends[, order(match(object$classes, object$levels)), drop = FALSE] != 0)
  }
  count <- ncol(values)
  order <- rbind(seq_len(count), count + 2 * seq_len(count) - 1, count + 2 * seq_len(count))
  all <- cbind(values, ends)[, order, drop = FALSE]
  names <- c("fit", "lwr", "upr")
  if (count > 1) names <- paste(rep(if (is.null(object$targets)) seq_len(count) else object$targets, each = 3), names, sep = ".")
  dimnames(all) <- list(labels, names)
  all
}

# One column for each number of features; classes as a data frame of factors.
path_of_answers <- function(object, values, labels) {
  if (object$task == "classify") {
    answers <- as.data.frame(lapply(seq_len(ncol(values)), function(k) as_classes(object, values[, k])))
    names(answers) <- paste0("dim", seq_len(ncol(values)))
    if (!is.null(labels)) row.names(answers) <- labels
    return(answers)
  }
  count <- ncol(values) / object$dim
  names <- paste0("dim", rep(seq_len(object$dim), each = count))
  if (count > 1) names <- paste(names, rep(seq_len(count), object$dim), sep = ".")
  dimnames(values) <- list(labels, names)
  values
}

# Predictions of no rows.
no_predictions <- function(object, type) {
  classes <- object$task == "classify"
  if (type %in% c("prob", "scores") && classes) {
    ordered <- object$classes[order(match(object$classes, object$levels))]
    return(matrix(0, 0, length(ordered), dimnames = list(NULL, ordered)))
  }
  if (type == "interval") {
    count <- max(length(object$targets), 1)
    return(intervals_of(object, matrix(0, 0, count), matrix(0, 0, if (classes) length(object$classes) else 2 * count), NULL))
  }
  if (classes && type == "class" || classes && type == "response") return(factor(character(), levels = object$levels, ordered = isTRUE(object$ordered)))
  if (type == "response") numeric() else matrix(0, 0, object$dim)
}
