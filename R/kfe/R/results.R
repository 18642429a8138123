# SPDX-License-Identifier: Apache-2.0
# The model of a search answers what a model is asked; fitted, residuals and others (training.R) do so themselves.

predict.kfe_search <- function(object, newdata, type = NULL, ...) stats::predict(model_of(object), newdata, type = type, ...)

coef.kfe_search <- function(object, ...) stats::coef(model_of(object), ...)

# The candidates that were tried, with their estimates and best settings.
tried_of <- function(tuned) {
  rows <- Filter(function(row) row$fits > 0, tuned$json$ranking)
  estimates <- estimates_of(tuned)[seq_along(rows), ]
  settings <- vapply(rows, function(row) paste(names(row$setting), unlist(row$setting), sep = "=", collapse = " "), "")
  data.frame(candidate = estimates$label, mean = round(estimates$mean, 4), standard_error = round(estimates$standard_error, 4), setting = settings)
}

summary.kfe_search <- function(object, ...) {
  text <- if (is.null(object$text)) utils::capture.output(print(object), print(tried_of(object))) else object$text
  structure(class = "summary.kfe", list(call = object$call, text = paste0(paste(text, collapse = "\n"), if (is.null(object$text)) "\n")))
}
