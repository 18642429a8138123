# SPDX-License-Identifier: Apache-2.0
# Reports in HTML and single figures, of a model or of the result of a search.

kfe_report <- function(object, file, train = NULL, test = NULL, y_train = NULL, y_test = NULL, ...) {
  source <- report_source(object, train, test, y_train, y_test)
  native("report", source$settings, source, checked_options(list(...), "report", names(formals(kfe_report))), NULL, path_of(file))
  invisible(object)
}

kfe_figure <- function(object, figure, train = NULL, test = NULL, y_train = NULL, y_test = NULL, file = NULL, format = NULL, ...) {
  if (missing(figure)) return(entries("figure")[c("name", "summary", "formula")])
  if (!is.null(file)) file <- path_of(file)
  if (is.null(format)) format <- figure_format(file)
  source <- report_source(object, train, test, y_train, y_test)
  options <- checked_options(list(...), "report", names(formals(kfe_figure)))
  drawn <- native("report", source$settings, source, options, c(one_string(figure, "figure"), one_string(format, "format")),
                  file)
  if (is.null(file)) drawn else invisible(object)
}

# The format that the extension of a file names.
figure_format <- function(file) {
  extension <- if (is.null(file)) "svg" else tolower(sub("^.*\\.", "", basename(file)))
  if (!extension %in% c("svg", "html", "csv", "json"))
    stop_kfe(sprintf("a figure is written as .svg, .html, .csv or .json, not as \"%s\"", basename(file)), "argument")
  extension
}

# What is shown: a model with data, or the result of a search, which is kept as JSON.
report_source <- function(object, train, test, y_train, y_test) {
  facts <- c(R = R.version.string, kfe = kfe_version(), call = paste(deparse(object$call), collapse = " "))
  if (inherits(object, c("kfe_cv", "kfe_compare"))) {
    if (!is.null(train) || !is.null(test))
      stop_kfe("the report of a search takes no data; for figures of its model, give the model: found$model", "argument")
    return(list(settings = list(), results = object$json, facts = facts))
  }
  if (inherits(object, "kfe_tune") && is.null(train) && is.null(test))
    stop_kfe("the result of kfe_tune is shown by plot(); for a report of its model, give data, as in test = ...", "argument")
  object <- model_of(object)
  list(settings = run_settings(object), handle = handle_of(object), train = labelled(object, train, y_train),
       test = labelled(object, test, y_test), facts = facts)
}

# New data with its target, if there is one; NULL without data.
labelled <- function(object, newdata, y) {
  if (is.null(newdata)) return(NULL)
  if (is.null(y)) y <- target_in(object, newdata)
  data <- describe_new(object, newdata)
  task <- c(classify = "classify", regress = "regress", none = "auto")[[object$task]]
  add_target(data, y, data$views[[1]]$rows, task, NULL)$data
}
