# SPDX-License-Identifier: Apache-2.0
# kfe(): fits a model to a matrix, a data frame, a list of views or a formula.

kfe <- function(x, ...) UseMethod("kfe")

kfe.default <- function(x, y = NULL, ..., method, kernel = NULL, learner = NULL, views = NULL, weights = NULL,
                        task = "auto", missing = "error", seed = NULL, threads = NULL, memory = NULL, device = NULL, verbose = FALSE) {
  settings <- make_settings(seed, threads, memory, device, verbose)
  spec <- make_spec(if (!missing(method)) method, kernel, learner, list(...))
  problem <- make_problem(x, y, spec, views, task, missing, weights = weights)
  handle <- native("fit", settings, spec, problem$data)
  new_kfe(handle, own_call(match.call(), "kfe"), problem, settings)
}

kfe.formula <- function(formula, data = NULL, ..., weights = NULL) {
  weights <- eval(substitute(weights), data, environment(formula))
  frame <- frame_of(formula, data)
  model <- kfe.default(frame$x, frame$y, ..., weights = weights)
  model$terms <- frame$terms
  model$xlevels <- frame$xlevels
  model$call <- own_call(match.call(), "kfe")
  model
}

# Data with its target and what new data needs.
make_problem <- function(x, y, spec, views = NULL, task = "auto", missing = "error", groups = NULL, weights = NULL) {
  missing <- check_missing(missing)
  if (is.null(x)) stop_kfe("x is NULL; it must be a matrix, a data frame or a list of them", "argument")
  if (is_views(x) && length(x) == 0) stop_kfe("x is an empty list; give a matrix for each view")
  dropped <- 0L
  if (missing == "drop") {
    gaps <- rows_with_gaps(x, y)
    dropped <- sum(gaps)
    if (dropped > 0) {
      x <- take_rows(x, !gaps)
      y <- if (!is.null(y)) take_rows(y, !gaps)
      groups <- if (!is.null(groups)) groups[!gaps]
      weights <- if (!is.null(weights)) weights[!gaps]
    }
  }
  rows <- count_rows(x)
  if (rows == 0)
    stop_kfe(if (dropped > 0) sprintf("all %d rows have missing values, so that none is left", dropped) else "x has no rows")
  data <- describe_x(x, NULL, takes_strings(spec$kernels))
  schemas <- lapply(data$views, schema_of)
  if (!is.null(data$names)) names(schemas) <- data$names
  data$division <- describe_division(views, x)
  if (!missing %in% c("error", "drop")) data$missing <- library_name(missing)
  if (missing == "error")
    refuse_missing(data, "x", "fill it in, or use missing = \"mean\", \"median\", \"most_frequent\" or \"drop\"")
  data$groups <- group_numbers(groups, rows)
  data$weights <- check_weights(weights, rows)
  found <- add_target(data, y, rows, task, spec$method)
  list(data = found$data, target = found$target, schemas = schemas, rows = rows, dropped = dropped,
       fills = !is.null(data$missing))
}

# Names the first missing value; the library would name its row and column by number.
refuse_missing <- function(data, what, remedy) {
  for (view in data$views) {
    gap <- first_gap(view)
    if (!is.null(gap))
      stop_kfe(sprintf("column \"%s\" of %s has a missing value in row %d; %s", column_label(view, gap[2]), what, gap[1], remedy))
  }
}

# Row and column of a missing value; NULL: there is none.
first_gap <- function(view) {
  if (view$kind == "dense" && anyNA(view$value)) return(which(is.na(view$value), arr.ind = TRUE)[1, ])
  for (j in seq_along(if (view$kind == "frame") view$value))
    if (anyNA(view$value[[j]])) return(c(which(is.na(view$value[[j]]))[1], j))
  for (k in seq_along(view$texts))
    if (anyNA(view$texts[[k]])) return(c(which(is.na(view$texts[[k]]))[1], view$encoded[k] + 1L))
  if (view$kind == "sparse" && anyNA(view$value@x)) return(which(is.na(view$value), arr.ind = TRUE)[1, ])
  NULL
}

column_label <- function(view, place) if (is.null(view$names)) as.character(place) else view$names[place]

group_numbers <- function(groups, rows) {
  if (is.null(groups)) return(NULL)
  if (length(groups) != rows) stop_kfe(sprintf("groups has %d values, but x has %d rows", length(groups), rows))
  if (anyNA(groups)) stop_kfe(sprintf("groups has a missing value in row %d", which(is.na(groups))[1]))
  as.integer(as.factor(groups))
}

check_weights <- function(weights, rows) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights)) stop_kfe(sprintf("weights must be numbers, not %s", shown(weights)), "argument")
  if (length(weights) != rows) stop_kfe(sprintf("there are %d weights, but x has %d rows", length(weights), rows))
  if (anyNA(weights)) stop_kfe(sprintf("weights has a missing value in row %d", which(is.na(weights))[1]))
  as.numeric(weights)
}

# ---- formulas ----

# The columns and the target of a formula. Factors stay factors, which the library encodes; with interactions, R's own
# model matrix is used.
frame_of <- function(formula, data) {
  if (!is.null(data) && !is.data.frame(data) && !is.environment(data) && !is.list(data))
    stop_kfe(sprintf("data is %s; with a formula it must be a data frame", article(class(data)[1])), "argument")
  terms <- stats::terms(formula, data = if (is.data.frame(data)) data)
  frame <- stats::model.frame(terms, data, na.action = stats::na.pass, drop.unused.levels = FALSE)
  terms <- attr(frame, "terms")
  if (length(attr(terms, "term.labels")) == 0) stop_kfe("the formula has no columns on its right side", "argument")
  xlevels <- stats::.getXlevels(terms, frame)
  list(x = frame_columns(frame, terms), y = stats::model.response(frame), terms = strip_terms(terms), xlevels = xlevels)
}

has_interactions <- function(terms) any(attr(terms, "order") > 1)

frame_columns <- function(frame, terms) {
  if (!has_interactions(terms)) return(frame[attr(terms, "term.labels")])
  gaps <- options(na.action = "na.pass")
  on.exit(options(gaps))
  x <- stats::model.matrix(terms, frame)
  x[, colnames(x) != "(Intercept)", drop = FALSE]
}

# The terms without the user's environment, which would be saved with the model if it is a function's.
strip_terms <- function(terms) {
  environment <- attr(terms, ".Environment")
  if (!identical(environment, globalenv())) attr(terms, ".Environment") <- topenv(environment)
  terms
}

# New data for a model of a formula.
columns_for <- function(object, newdata) {
  if (!is.data.frame(newdata)) newdata <- as.data.frame(newdata)
  terms <- stats::delete.response(object$terms)
  wanted <- all.vars(terms)
  lacking <- setdiff(wanted, c(names(newdata), ls(globalenv())))
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

# The call as the user wrote it, not as the S3 method sees it.
own_call <- function(call, name) {
  call[[1]] <- as.name(name)
  call
}
