# SPDX-License-Identifier: Apache-2.0
# Formulas: the examples of a data frame that they name, for fits, searches and new data.

# The columns, the target, the weights and the groups of a formula, for the rows of `subset` that na.action keeps. Factors
# stay factors, which are encoded; with interactions, R's own model matrix is used.
#   given      expressions by name (subset, weights, groups), which are evaluated in `data`
#   na.action  a function such as na.omit, or its name; NULL: missing values are left to the argument `missing`
frame_of <- function(formula, data, given = list(), na.action = NULL) {
  if (!is.null(data) && !is.data.frame(data) && !is.environment(data) && !is.list(data))
    stop_kfe(sprintf("data is %s; with a formula it must be a data frame", article(class(data)[1])), "argument")
  terms <- stats::terms(formula, data = if (is.data.frame(data)) data)
  frame <- stats::model.frame(terms, data, na.action = stats::na.pass, drop.unused.levels = FALSE)
  terms <- attr(frame, "terms")
  if (!is.null(attr(terms, "offset")))
    stop_kfe("the formula has an offset, which no method takes; subtract it from the target", "argument")
  if (length(attr(terms, "term.labels")) == 0) stop_kfe("the formula has no columns on its right side", "argument")
  beside <- lapply(given, eval, data, environment(formula))
  rows <- seq_len(nrow(frame))
  chosen <- chosen_rows(beside$subset, frame)
  kept <- keep_rows(frame[chosen, , drop = FALSE], terms, na.action)
  places <- chosen[kept$rows]
  take <- function(values) if (length(values) == length(rows)) values[places] else values
  columns <- columns_of_data(terms, data, nrow(frame))
  list(frame = kept$frame, x = frame_columns(kept$frame, terms), y = stats::model.response(kept$frame), weights = take(beside$weights),
       groups = take(beside$groups), terms = strip_terms(terms, columns), xlevels = stats::.getXlevels(terms, frame),
       columns = columns, omitted = kept$omitted, places = if (!identical(places, rows)) places)
}

# The numbers of the rows that `subset` names.
chosen_rows <- function(subset, frame) {
  rows <- seq_len(nrow(frame))
  if (is.null(subset)) return(rows)
  if (is.logical(subset) && length(subset) != nrow(frame))
    stop_kfe(sprintf("subset has %s, but the data has %s", counted(length(subset), "value"), counted(nrow(frame), "row")))
  if (is.logical(subset)) return(which(subset))
  names(rows) <- row.names(frame)
  chosen <- unname(rows[subset])
  if (anyNA(chosen)) stop_kfe("subset names rows that the data does not have")
  chosen
}

# The frame after na.action, with what it has dropped.
keep_rows <- function(frame, terms, na.action) {
  attr(frame, "terms") <- terms
  if (is.null(na.action)) return(list(frame = frame, rows = seq_len(nrow(frame))))
  names <- attr(frame, "row.names")
  row.names(frame) <- NULL
  frame <- match.fun(na.action)(frame)
  rows <- as.integer(row.names(frame))
  omitted <- attr(frame, "na.action")
  attr(frame, "row.names") <- names[rows]
  attr(frame, "terms") <- terms
  list(frame = frame, rows = rows, omitted = omitted)
}

has_interactions <- function(terms) any(attr(terms, "order") > 1)

# The variables of the right side. Their labels may have quotes that the names of the frame do not have.
frame_columns <- function(frame, terms) {
  if (!has_interactions(terms)) {
    places <- apply(attr(terms, "factors") != 0, 2, which)
    return(frame[as.integer(places)])
  }
  gaps <- options(na.action = "na.pass")
  on.exit(options(gaps))
  x <- stats::model.matrix(terms, frame)
  x[, colnames(x) != "(Intercept)", drop = FALSE]
}

# The variables that are one value for each row, which new data must have. Others, as the 2 in poly(x, k) with k <- 2, are found
# where the formula was written.
columns_of_data <- function(terms, data, rows) {
  variables <- all.vars(stats::delete.response(terms))
  found <- vapply(variables, function(name) {
    if (is.data.frame(data) && name %in% names(data)) return(TRUE)
    NROW(tryCatch(eval(as.name(name), data, environment(terms)), error = function(e) NULL)) == rows && rows != 1
  }, TRUE)
  variables[found]
}

# The terms without the environment of the function that wrote the formula, which would be saved with the model. What the formula
# takes from there besides columns, as the k of poly(x, k), is kept.
strip_terms <- function(terms, columns) {
  environment <- attr(terms, ".Environment")
  top <- topenv(environment)
  if (identical(environment, top)) return(terms)
  kept <- new.env(parent = top)
  for (name in setdiff(all.names(stats::delete.response(terms)), columns)) {
    frame <- environment
    while (!identical(frame, top) && !exists(name, frame, inherits = FALSE)) frame <- parent.env(frame)
    if (!identical(frame, top)) assign(name, get(name, frame), kept)
  }
  attr(terms, ".Environment") <- kept
  terms
}

# A model with what new data and its summaries need of the formula.
add_formula <- function(model, frame, call) {
  model[c("terms", "xlevels", "columns", "omitted")] <- frame[c("terms", "xlevels", "columns", "omitted")]
  if (!is.null(frame$places)) model$places <- if (is.null(model$places)) frame$places else frame$places[model$places]
  model$call <- call
  model
}

search_of_formula <- function(result, frame, call) {
  if (!is.null(result$model)) result$model <- add_formula(result$model, frame, call)
  result$call <- call
  result
}

# New data for a model of a formula.
columns_for <- function(object, newdata) {
  if (!is.data.frame(newdata) && is.null(colnames(newdata)))
    stop_kfe(sprintf("newdata is %s without names; it must be a data frame with %s", article(class(newdata)[1]), listed(object$columns)))
  if (!is.data.frame(newdata)) newdata <- as.data.frame(newdata)
  terms <- stats::delete.response(object$terms)
  lacking <- setdiff(object$columns, names(newdata))
  if (length(lacking) > 0)
    stop_kfe(sprintf("newdata lacks %s %s of the model", if (length(lacking) > 1) "the columns" else "the column",
                     listed(lacking)))
  levels <- if (has_interactions(terms)) object$xlevels
  frame <- stats::model.frame(terms, newdata, na.action = stats::na.pass, xlev = levels)
  frame_columns(frame, terms)
}

# The target of the formula in new data; NULL if new data does not have it.
target_in <- function(object, newdata) {
  if (is.null(object$terms) || attr(object$terms, "response") == 0 || !is.data.frame(newdata)) return(NULL)
  response <- attr(object$terms, "variables")[[2]]
  if (!all(all.vars(response) %in% names(newdata))) return(NULL)
  eval(response, newdata, environment(object$terms))
}
