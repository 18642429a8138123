# SPDX-License-Identifier: Apache-2.0
# Cross-validation, comparison, tuning and evaluation. A result is a list of data frames, one for each table of the library's.

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
  tables <- found$tables
  structure(class = c("kfe_cv", "kfe_search"), list(
    call = own_call(match.call(), "kfe_cv"), metrics = metric_table(estimates_in(tables$facts, "metrics")),
    pooled = unlist(group_of(tables$facts, "pooled")),
    splits = cbind(tables$splits[c("repeat", "fold")], group_of(tables$splits, "setting"), group_of(tables$splits, "metrics")),
    held_out = tables$held_out, settings = setting_table(tables$settings), best = unlist(group_of(tables$facts, "best")), text = found$text, tables = tables,
    json = found$json,
    model = if (!is.null(found$handle)) new_kfe(found$handle, own_call(match.call(), "kfe_cv"), problem, settings)
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
  structure(class = c("kfe_compare", "kfe_search"),
            list(call = own_call(match.call(), "kfe_compare"), text = found$text, tables = found$tables, json = found$json))
}

print.kfe_compare <- print.kfe_cv

kfe_tune <- function(x, ...) UseMethod("kfe_tune")

kfe_tune.formula <- function(formula, data = NULL, ..., subset = NULL, groups = NULL, weights = NULL, na.action = NULL) {
  given <- list(subset = substitute(subset), groups = substitute(groups), weights = substitute(weights))
  frame <- frame_of(formula, data, given, na.action)
  result <- kfe_tune.default(frame$x, frame$y, ..., groups = frame$groups, weights = frame$weights)
  search_of_formula(result, frame, own_call(match.call(), "kfe_tune"))
}

kfe_tune.default <- function(x, y = NULL, ..., time = 60, trials = 0, prepare = "none", grid = NULL, task = "auto", missing = "error",
                             groups = NULL, weights = NULL, seed = NULL, threads = NULL, memory = NULL, device = NULL,
                             verbose = FALSE) {
  settings <- make_settings(seed, threads, memory, device, verbose)
  problem <- make_problem(x, y, list(method = NULL, kernels = character()), NULL, task, missing, groups, weights)
  steps <- list(prepare = paste(prepare, collapse = "|"), grid = paste(grid_texts(grid), collapse = ";"))
  options <- c(list(time = if (is.null(time)) "none" else time, trials = trials), steps, list(...))
  found <- native("tune", settings, problem$data, checked_options(options, "tune", names(formals(kfe_tune.default))))
  facts <- found$tables$facts
  best <- group_of(facts, "best")
  ranking <- found$tables$ranking
  structure(class = c("kfe_tune", "kfe_search"), list(
    call = own_call(match.call(), "kfe_tune"),
    best = c(as.list(best[!grepl("/", names(best))]), list(setting = as.list(group_of(best, "setting")))),
    honest = list(measured_on = facts[["honest/measured_on"]], metrics = estimates_in(facts, "honest/metrics"),
                  splits = found$tables[["honest/splits"]]),
    ranking = cbind(ranking[!grepl("/", names(ranking))], group_of(ranking, "setting")), tables = found$tables,
    model = new_kfe(found$handle, own_call(match.call(), "kfe_tune"), problem, settings)
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
  options <- checked_options(utils::modifyList(list(curves = TRUE), list(...)), "evaluate", names(formals(kfe_evaluate)))
  tables <- native("evaluate", run_settings(object), handle_of(object), found$data, options)$tables
  structure(unlist(group_of(tables$facts, "metrics")), class = "kfe_evaluation", tables = tables)
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
    paste(vapply(grid[[k]], as_text, "", names(grid)[k]), collapse = if (names(grid)[k] == "prepare") "|" else ",")
  }, "")
  of_steps <- sub("[.].*", "", names(grid)) %in% c("prepare", kfe_steps()$name) & grepl(".", names(grid), fixed = TRUE)
  paste(ifelse(of_steps, names(grid), library_name(names(grid))), values, sep = "=")
}

# ---- tables ----

# The columns of a group, without its name: of "setting", the column "setting/gamma" as "gamma".
group_of <- function(table, group) {
  found <- table[startsWith(names(table), paste0(group, "/"))]
  names(found) <- substring(names(found), nchar(group) + 2)
  found
}

# The means, standard errors and standard deviations of each metric in a table of one row, as a list of lists.
estimates_in <- function(table, group) {
  found <- group_of(table, group)
  sapply(unique(sub("/.*", "", names(found))), function(name) as.list(group_of(found, name)), simplify = FALSE)
}

metric_table <- function(metrics) {
  part <- function(name) vapply(metrics, function(m) m[[name]], 0, USE.NAMES = FALSE)
  data.frame(metric = names(metrics), mean = part("mean"), standard_error = part("standard_error"), sd = part("sd"), stringsAsFactors = FALSE)
}

# The settings of a grid with the mean of each metric; NULL without a grid.
setting_table <- function(settings) {
  if (is.null(settings) || nrow(settings) == 0) return(NULL)
  means <- group_of(settings, "metrics")
  means <- means[endsWith(names(means), "/mean")]
  names(means) <- sub("/mean$", "", names(means))
  cbind(group_of(settings, "setting"), means, settings[intersect(c("rmsecv", "rmsecv_error", "q2", "bias", "sep"), names(settings))])
}
