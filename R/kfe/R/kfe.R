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

kfe.formula <- function(formula, data = NULL, ..., subset = NULL, weights = NULL, na.action = NULL) {
  frame <- frame_of(formula, data, list(subset = substitute(subset), weights = substitute(weights)), na.action)
  model <- kfe.default(frame$x, frame$y, ..., weights = frame$weights)
  add_formula(model, frame, own_call(match.call(), "kfe"))
}

# Data with its target and what new data needs.
make_problem <- function(x, y, spec, views = NULL, task = "auto", missing = "error", groups = NULL, weights = NULL) {
  missing <- check_missing(missing)
  if (is.null(x)) stop_kfe("x is NULL; it must be a matrix, a data frame or a list of them", "argument")
  if (is_views(x) && length(x) == 0) stop_kfe("x is an empty list; give a matrix for each view")
  dropped <- 0L
  places <- NULL
  if (missing == "drop") {
    gaps <- rows_with_gaps(x, y)
    dropped <- sum(gaps)
    if (dropped > 0) {
      places <- which(!gaps)
      x <- take_rows(x, !gaps)
      y <- if (!is.null(y)) take_rows(y, !gaps)
      groups <- if (!is.null(groups)) groups[!gaps]
      weights <- if (!is.null(weights)) weights[!gaps]
    }
  }
  rows <- count_rows(x)
  if (rows == 0)
    stop_kfe(if (dropped > 0) sprintf("all %d rows have missing values, so none is left", dropped) else "x has no rows")
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
  list(data = found$data, target = found$target, schemas = schemas, rows = rows, dropped = dropped, places = places,
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
  if (length(groups) != rows) stop_kfe(sprintf("groups has %s, but x has %s", counted(length(groups), "value"), counted(rows, "row")))
  if (anyNA(groups)) stop_kfe(sprintf("groups has a missing value in row %d", which(is.na(groups))[1]))
  as.integer(as.factor(groups))
}

check_weights <- function(weights, rows) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights)) stop_kfe(sprintf("weights must be numbers, not %s", shown(weights)), "argument")
  if (length(weights) != rows) stop_kfe(sprintf("there %s %s, but x has %s", if (length(weights) == 1) "is" else "are", counted(length(weights), "weight"), counted(rows, "row")))
  if (anyNA(weights)) stop_kfe(sprintf("weights has a missing value in row %d", which(is.na(weights))[1]))
  as.numeric(weights)
}

# The call as the user wrote it, not as the S3 method sees it.
own_call <- function(call, name) {
  call[[1]] <- as.name(name)
  call
}
