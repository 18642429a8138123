# SPDX-License-Identifier: Apache-2.0
# The model of a search answers what a model is asked; fitted, residuals and others (training.R) do so themselves.

predict.kfe_search <- function(object, newdata, type = NULL, ...) stats::predict(model_of(object), newdata, type = type, ...)

coef.kfe_search <- function(object, ...) stats::coef(model_of(object), ...)

# The candidates that were tried, with their estimates and best settings.
tried_of <- function(tuned) {
  rows <- tuned$tables$ranking[tuned$tables$ranking$fits > 0, ]
  data.frame(candidate = rows$candidate, mean = round(rows$mean, 4), standard_error = round(rows$standard_error, 4),
             setting = setting_labels(group_of(rows, "setting"), " "))
}

summary.kfe_search <- function(object, ...) {
  text <- if (is.null(object$text)) utils::capture.output(print(object), print(tried_of(object))) else object$text
  structure(class = "summary.kfe", list(call = object$call, text = paste0(paste(text, collapse = "\n"), if (is.null(object$text)) "\n")))
}
