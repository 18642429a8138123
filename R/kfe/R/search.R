# SPDX-License-Identifier: Apache-2.0
# Cross-validation, comparison, tuning and evaluation. The library's reports are JSON, which becomes lists and data frames.

kfe_cv <- function(x, ...) UseMethod("kfe_cv")

kfe_cv.formula <- function(formula, data = NULL, ..., subset = NULL, groups = NULL, weights = NULL, na.action = NULL) {
  given <- list(subset = substitute(subset), groups = substitute(groups), weights = substitute(weights))
  frame <- frame_of(formula, data, given, na.action)
  result <- kfe_cv.default(frame$x, frame$y, ..., groups = frame$groups, weights = frame$weights)
  search_of_formula(result, frame, own_call(match.call(), "kfe_cv"))
}

kfe_cv.default <- function(x, y = NULL, ..., method, kernel = NULL, learner = NULL, grid = NULL, groups = NULL, weights = NULL,
                           views = NULL, task = "auto", missing = "error", seed = NULL, threads = NULL, memory = NULL, device = NULL,
                           verbose = FALSE) {
  settings <- make_settings(seed, threads, memory, device, verbose)
  given <- split_options(list(...), "cv")
  spec <- make_spec(if (!missing(method)) method, kernel, learner, given$rest,
                    c(names(formals(kfe_cv.default)), param_rows("cv")$name))
  problem <- make_problem(x, y, spec, views, task, missing, groups, weights)
  found <- native("search", settings, list(spec), grid_texts(grid), problem$data, options_text(given$options))
  report <- read_report(found[[1]])
  structure(class = c("kfe_cv", "kfe_search"), list(
    call = own_call(match.call(), "kfe_cv"), metrics = metric_table(report$json$metrics), splits = split_table(report$json$splits),
    settings = setting_table(report$json$settings), best = unlist(report$json$best), text = report$text, json = report$json,
    report = report$raw,
    model = if (!is.null(found[[2]])) new_kfe(found[[2]], own_call(match.call(), "kfe_cv"), problem, settings)
  ))
}

print.kfe_cv <- function(x, ...) {
  cat(x$text)
  invisible(x)
}

kfe_compare <- function(x, ...) UseMethod("kfe_compare")

kfe_compare.formula <- function(formula, data = NULL, specs, ..., subset = NULL, groups = NULL, weights = NULL, na.action = NULL) {
  given <- list(subset = substitute(subset), groups = substitute(groups), weights = substitute(weights))
  frame <- frame_of(formula, data, given, na.action)
  result <- kfe_compare.default(frame$x, frame$y, specs, ..., groups = frame$groups, weights = frame$weights)
  search_of_formula(result, frame, own_call(match.call(), "kfe_compare"))
}

kfe_compare.default <- function(x, y = NULL, specs, ..., grid = NULL, groups = NULL, weights = NULL, task = "auto", missing = "error",
                                seed = NULL, threads = NULL, memory = NULL, device = NULL, verbose = FALSE) {
  if (base::missing(specs) || !is.list(specs) || length(specs) < 2)
    stop_kfe("specs is a list of at least two lists, such as list(list(method = \"koc\", learner = \"knn\"), ...)", "argument")
  settings <- make_settings(seed, threads, memory, device, verbose)
  made <- lapply(specs, function(spec) {
    spec <- as.list(spec)
    own <- spec[setdiff(names(spec), c("method", "kernel", "learner"))]
    make_spec(spec$method, spec$kernel, spec$learner, own)
  })
  problem <- make_problem(x, y, made[[1]], NULL, task, missing, groups, weights)
  options <- checked_options(list(...), "compare", names(formals(kfe_compare.default)))
  found <- native("search", settings, made, grid_texts(grid), problem$data, options)
  report <- read_report(found[[1]])
  structure(class = c("kfe_compare", "kfe_search"), list(call = own_call(match.call(), "kfe_compare"), text = report$text, json = report$json, report = report$raw))
}

print.kfe_compare <- print.kfe_cv

kfe_tune <- function(x, ...) UseMethod("kfe_tune")

kfe_tune.formula <- function(formula, data = NULL, ..., subset = NULL, groups = NULL, weights = NULL, na.action = NULL) {
  given <- list(subset = substitute(subset), groups = substitute(groups), weights = substitute(weights))
  frame <- frame_of(formula, data, given, na.action)
  result <- kfe_tune.default(frame$x, frame$y, ..., groups = frame$groups, weights = frame$weights)
  search_of_formula(result, frame, own_call(match.call(), "kfe_tune"))
}

kfe_tune.default <- function(x, y = NULL, ..., time = 60, trials = 0, task = "auto", missing = "error", groups = NULL, weights = NULL,
                             seed = NULL, threads = NULL, memory = NULL, device = NULL, verbose = FALSE) {
  settings <- make_settings(seed, threads, memory, device, verbose)
  problem <- make_problem(x, y, list(method = NULL, kernels = character()), NULL, task, missing, groups, weights)
  options <- c(list(time = if (is.null(time)) "none" else time, trials = trials), list(...))
  found <- native("tune", settings, problem$data, checked_options(options, "tune", names(formals(kfe_tune.default))))
  json <- parse_json(found[[1]])
  structure(class = c("kfe_tune", "kfe_search"), list(
    call = own_call(match.call(), "kfe_tune"), best = json$best, honest = json$honest, ranking = ranking_table(json$ranking), json = json,
    model = new_kfe(found[[2]], own_call(match.call(), "kfe_tune"), problem, settings)
  ))
}

print.kfe_tune <- function(x, ...) {
  cat("Best of", sum(x$ranking$fits > 0), "candidates that were tried:\n")
  print(x$model)
  metrics <- x$honest$metrics
  if (length(metrics) > 0) {
    cat("Measured on examples that did not influence the choice:\n")
    print(metric_table(metrics), row.names = FALSE)
  }
  invisible(x)
}

kfe_evaluate <- function(object, newdata, y = NULL, ..., weights = NULL) {
  object <- model_of(object)
  if (!object$predicts) check_type(object, "response")
  if (is.null(y)) y <- target_in(object, newdata)
  if (is.null(y)) stop_kfe("y is missing, and newdata does not have the target of the model's formula", "argument")
  data <- describe_new(object, newdata)
  task <- if (object$task == "classify") "classify" else "regress"
  data$weights <- check_weights(weights, data$views[[1]]$rows)
  found <- add_target(data, y, data$views[[1]]$rows, task, NULL)
  options <- checked_options(list(...), "evaluate", names(formals(kfe_evaluate)))
  json <- parse_json(native("evaluate", run_settings(object), handle_of(object), found$data, options)[[1]])
  metrics <- unlist(json$metrics)
  structure(metrics, class = "kfe_evaluation", json = json)
}

print.kfe_evaluation <- function(x, ...) {
  print(c(unclass(x))[seq_along(x)])
  invisible(x)
}

# ---- options and grids ----

# Options of a search and parameters of the method are given side by side; the tables tell them apart.
split_options <- function(given, table) {
  check_named(given)
  rows <- param_rows(table)
  own <- r_name(library_name(names(given))) %in% c(rows$name, r_name(rows$alias))
  list(options = given[own], rest = given[!own])
}

# list(gamma = c(0.1, 1)) as "gamma=0.1,1"; a text such as "0.01:10:log7" stays as it is.
grid_texts <- function(grid) {
  if (is.null(grid)) return(character())
  if (is.character(grid) && is.null(names(grid))) return(grid)
  grid <- as.list(grid)
  check_named(grid)
  values <- vapply(seq_along(grid), function(k) {
    paste(vapply(grid[[k]], as_text, "", names(grid)[k]), collapse = ",")
  }, "")
  paste(library_name(names(grid)), values, sep = "=")
}

# ---- reports ----

parse_json <- function(text) jsonlite::fromJSON(text, simplifyVector = FALSE)

# A report is its text, a form feed and its JSON.
read_report <- function(both) {
  at <- regexpr("\f", both, fixed = TRUE)
  raw <- substr(both, at + 1L, nchar(both))
  list(text = substr(both, 1L, at - 1L), json = parse_json(raw), raw = raw)
}

number_or_na <- function(value) if (is.null(value)) NA_real_ else as.numeric(value)

metric_table <- function(metrics) {
  data.frame(metric = names(metrics), mean = vapply(metrics, function(m) number_or_na(m$mean), 0, USE.NAMES = FALSE),
             standard_error = vapply(metrics, function(m) number_or_na(m$standard_error), 0, USE.NAMES = FALSE),
             sd = vapply(metrics, function(m) number_or_na(m$sd), 0, USE.NAMES = FALSE), stringsAsFactors = FALSE)
}

split_table <- function(splits) {
  rows <- lapply(splits, function(split) {
    metrics <- lapply(split$metrics, number_or_na)
    as.data.frame(c(split[c("repeat", "fold")], lapply(split[["setting"]], as.character), metrics), optional = TRUE)
  })
  do.call(rbind_filled, rows)
}

setting_table <- function(settings) {
  rows <- lapply(settings, function(row) {
    means <- lapply(row$metrics, function(m) number_or_na(m$mean))
    as.data.frame(c(lapply(row[["setting"]], as.character), means), optional = TRUE)
  })
  if (length(rows) == 0) NULL else do.call(rbind_filled, rows)
}

ranking_table <- function(ranking) {
  rows <- lapply(ranking, function(row) {
    plain <- Filter(function(value) is.atomic(value) && length(value) == 1, row)
    means <- lapply(row$metrics, function(m) number_or_na(if (is.list(m)) m$mean else m))
    as.data.frame(c(plain, lapply(row[["setting"]], as.character), means), optional = TRUE)
  })
  if (length(rows) == 0) data.frame() else do.call(rbind_filled, rows)
}

# Rows with different columns; what a row lacks is NA.
rbind_filled <- function(...) {
  rows <- list(...)
  all <- unique(unlist(lapply(rows, names)))
  do.call(rbind, lapply(rows, function(row) {
    row[setdiff(all, names(row))] <- NA
    row[all]
  }))
}
