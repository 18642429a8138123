# SPDX-License-Identifier: Apache-2.0
# step_kfe(): features as a step of the package recipes. NAMESPACE registers the methods when recipes is loaded.

need_package <- function(name, what) {
  if (!requireNamespace(name, quietly = TRUE))
    stop_kfe(sprintf("%s needs the package %s, which is not installed", what, name), "unsupported")
}

step_kfe <- function(recipe, ..., method = "kpca", num_comp = NULL, options = list(), outcome = NULL, role = "predictor",
                     prefix = "kfe", keep_original_cols = FALSE, trained = FALSE, model = NULL, columns = NULL,
                     skip = FALSE, id = NULL) {
  need_package("recipes", "step_kfe()")
  if (is.null(id)) id <- recipes::rand_id("kfe")
  if (!is.list(options)) stop_kfe("options is a list of arguments of kfe(), such as list(kernel = \"rbf\", gamma = 0.1)", "argument")
  step <- recipes::step(
    subclass = "kfe", terms = rlang::enquos(...), method = method, num_comp = num_comp, options = options,
    outcome = outcome, role = role, prefix = prefix, keep_original_cols = keep_original_cols, trained = trained,
    model = model, columns = columns, skip = skip, id = id
  )
  recipes::add_step(recipe, step)
}

# The target of a supervised method: the columns named `outcome`, or those with that role.
step_target <- function(step, training, info) {
  entry <- find_entry("method", library_name(step$method))
  if (is.na(entry$name) || !has_flag(entry$flags, "supervised")) return(NULL)
  names <- step$outcome
  if (is.null(names)) names <- info$variable[info$role %in% "outcome"]
  lacking <- setdiff(names, names(training))
  if (length(names) == 0 || length(lacking) > 0)
    stop_kfe(sprintf("method %s needs a target: %s", step$method, if (length(names) == 0) "the recipe has no outcome; use outcome ="
                     else paste("the data has no column", listed(lacking))))
  as.data.frame(training)[names]
}

prep.step_kfe <- function(x, training, info = NULL, ...) {
  columns <- recipes::recipes_eval_select(x$terms, training, info)
  arguments <- c(list(as.data.frame(training)[columns], step_target(x, training, info), method = x$method), x$options)
  if (!is.null(x$num_comp)) arguments$dim <- x$num_comp
  x$model <- if (length(columns) > 0) do.call(kfe, arguments)
  x$loadings <- if (!is.null(x$model)) feature_correlations(x$model, arguments[[1]])
  x$columns <- unname(columns)
  x$trained <- TRUE
  x
}

bake.step_kfe <- function(object, new_data, ...) {
  if (length(object$columns) == 0) return(new_data)
  lacking <- setdiff(object$columns, names(new_data))
  if (length(lacking) > 0) stop_kfe(sprintf("new_data lacks %s, which step_kfe() needs", listed(lacking)))
  features <- kfe_transform(object$model, as.data.frame(new_data)[object$columns])
  dimnames(features) <- list(NULL, recipes::names0(ncol(features), object$prefix))
  clash <- intersect(colnames(features), names(new_data))
  if (length(clash) > 0) stop_kfe(sprintf("the data already has a column %s; use another prefix", clash[1]))
  kept <- if (isTRUE(object$keep_original_cols)) names(new_data) else setdiff(names(new_data), object$columns)
  tibble::as_tibble(cbind(as.data.frame(new_data)[kept], features))
}

print.step_kfe <- function(x, width = max(20, options()$width - 30), ...) {
  recipes::print_step(x$columns, x$terms, x$trained, paste("Kernel features by", x$method, "for "), width)
  invisible(x)
}

tidy.step_kfe <- function(x, ...) {
  if (!x$trained || is.null(x$model)) {
    terms <- if (x$trained) x$columns else recipes::sel2char(x$terms)
    count <- length(terms)
    return(tibble::tibble(terms = terms, value = rep(NA_real_, count), component = rep(NA_character_, count),
                          type = rep(NA_character_, count), id = rep(x$id, count)))
  }
  linear <- is.null(x$loadings)
  weights <- if (linear) coef(x$model) else x$loadings
  tibble::tibble(terms = rep(rownames(weights), ncol(weights)), value = as.vector(weights),
                 component = rep(recipes::names0(ncol(weights), x$prefix), each = nrow(weights)),
                 type = if (linear) "coefficient" else "correlation", id = x$id)
}

# Kernel methods have no coefficients on columns: the correlations of the columns with the features stand for them. A category
# is a column of zeros and ones, as in the model.
feature_correlations <- function(model, frame) {
  if (model$support == 0 && !is.null(facts_of(model)$coefficients)) return(NULL)
  columns <- do.call(cbind, lapply(names(frame), function(name) {
    column <- frame[[name]]
    if (is.ordered(column) || !is_category(column)) return(matrix(as.numeric(column), dimnames = list(NULL, name)))
    words <- sort(unique(as.character(column)))
    matrix(outer(as.character(column), words, "==") + 0, ncol = length(words), dimnames = list(NULL, paste(name, words, sep = "=")))
  }))
  suppressWarnings(stats::cor(columns, kfe_transform(model, frame), use = "pairwise.complete.obs")) # constant columns: NA
}

required_pkgs.step_kfe <- function(x, ...) "kfe"

tunable.step_kfe <- function(x, ...) {
  tibble::tibble(name = "num_comp", call_info = list(list(pkg = "dials", fun = "num_comp", range = c(1L, 4L))),
                 source = "recipe", component = "step_kfe", component_id = x$id)
}
