# SPDX-License-Identifier: Apache-2.0
# Explanations of a model as named matrices, and kernel matrices.

kfe_explain <- function(object, newdata = NULL, y = NULL, ..., train = NULL, y_train = NULL) {
  object <- model_of(object)
  data <- labelled(object, newdata, y)
  found <- native("explain", run_settings(object), handle_of(object), data, labelled(object, train, y_train),
                  checked_options(list(...), "explain", names(formals(kfe_explain))))
  tables <- found$tables[-1]
  structure(lapply(tables, as_matrix), names = names(tables), text = found$text, class = "kfe_explanation")
}

# How far rows are from the training data, which is that of the call unless others are given.
kfe_diagnostics <- function(object, newdata = NULL, y = NULL, level = 0.95, contributions = FALSE) {
  if (is.null(newdata)) {
    object <- model_of(object)
    training <- training_of(object, parent.frame())
    object$terms <- NULL
    newdata <- training$x
    y <- training$y
  }
  found <- kfe_explain(object, newdata, y, parts = "diagnostics", level = level, examples = contributions)
  labels <- row_labels(newdata)
  if (is.null(labels) || identical(labels, as.character(seq_along(labels)))) return(found)
  for (name in setdiff(names(found), "limits")) rownames(found[[name]]) <- labels
  found
}

kfe_outliers <- function(object, newdata, level = 0.99) {
  found <- kfe_diagnostics(object, newdata, level = level)$diagnostics
  stats::setNames(found[, "outlier"] > 0, row_labels(newdata))
}

# DD-SIMCA: rows whose distance is exceeded by a share `alpha` or more of rows like the training data.
kfe_members <- function(object, newdata, alpha = 0.05) {
  if (!is.numeric(alpha) || length(alpha) != 1 || is.na(alpha)) stop_kfe("alpha must be a number between 0 and 1", "argument")
  p <- kfe_diagnostics(object, newdata)$diagnostics[, "p-value"]
  if (all(is.na(p)))
    stop_kfe("the model has no distance of T2 and Q together: it is not linear in its columns, or its features explain them all", "unsupported")
  stats::setNames(p >= alpha, row_labels(newdata))
}

# The numbers of a table, whose first column has the labels of the rows.
as_matrix <- function(table) {
  found <- unname(as.matrix(table[-1]))
  is_numbered <- function(labels) identical(as.character(labels), as.character(seq_along(labels)))
  dimnames(found) <- lapply(list(table[[1]], names(table)[-1]), function(labels) if (!is_numbered(labels)) labels)
  structure(found, about = attr(table, "about"))
}

print.kfe_explanation <- function(x, ...) {
  cat(attr(x, "text"))
  invisible(x)
}

kfe_kernel_matrix <- function(x, x2 = NULL, kernel = "rbf", ..., threads = NULL) {
  kernel <- kernel_texts(kernel)
  if (length(list(...)) > 0) kernel <- do.call(kfe_kernel, list(kernel, ...))
  strings <- takes_strings(kernel)
  rows <- describe_x(x, NULL, strings)
  columns <- if (!is.null(x2)) describe_x(x2, lapply(rows$views, schema_of), strings, "x2")
  result <- native("kernel_matrix", make_settings(threads = threads), kernel, rows, columns)
  dimnames(result) <- list(row_labels(x), row_labels(if (is.null(x2)) x else x2))
  result
}
