# SPDX-License-Identifier: Apache-2.0
# Targets: factors, strings and logical values are classes, several columns are real values, and for other numbers the
# library decides as for the command line.

TASKS <- c("auto", "classify", "regress")

check_target <- function(y, rows) {
  if (is.data.frame(y)) y <- if (ncol(y) == 1) y[[1]] else as.matrix(y)
  if (is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  if (!is.factor(y) && !is.character(y) && !is.logical(y) && !is.numeric(y))
    stop_kfe(sprintf("y is %s; it must be a factor, strings or numbers", article(class(y)[1])), "argument")
  count <- if (is.matrix(y)) nrow(y) else length(y)
  if (count != rows) stop_kfe(sprintf("y has %s, but x has %s", counted(count, "value"), counted(rows, "row")))
  gaps <- if (is.matrix(y)) !stats::complete.cases(y) else is.na(y)
  if (any(gaps))
    stop_kfe(sprintf("y has a missing value in row %d; remove such rows, or use missing = \"drop\"", which(gaps)[1]))
  y
}

# Whether y is classes. A method that takes no real targets takes numbers as classes. Rows of weight 0 have no say.
is_classes <- function(y, task, method, weights = NULL) {
  task <- one_of(one_string(task, "task"), TASKS, "task")
  textual <- is.factor(y) || is.character(y) || is.logical(y)
  if (task == "regress" && textual) stop_kfe("task = \"regress\" needs numbers as y, not classes")
  if (task != "auto") return(task == "classify")
  if (textual) return(TRUE)
  if (is.matrix(y)) return(FALSE)
  entry <- if (!is.null(method)) find_entry("method", method)
  if (!is.null(entry) && !is.na(entry$name) && has_flag(entry$flags, "supervised") && !has_flag(entry$flags, "regression"))
    return(TRUE)
  if (!is.null(weights) && any(weights > 0)) y <- y[weights > 0]
  native("guess", make_settings(), if (is.integer(y)) y else as.numeric(y))
}

# Adds y to a description; also says how predictions are turned back: list(classes =, levels =, names =).
add_target <- function(data, y, rows, task, method) {
  if (is.null(y)) return(list(data = data, target = NULL))
  y <- check_target(y, rows)
  if (is_classes(y, task, method, data$weights)) {
    if (is.matrix(y)) stop_kfe("y has several columns, which are real targets, not classes")
    data$labels <- enc2utf8(label_texts(y))
    levels <- if (is.factor(y)) levels(y) else NULL
    return(list(data = data, target = list(classes = TRUE, levels = levels, ordered = is.ordered(y))))
  }
  data$targets <- if (is.matrix(y)) y else matrix(as.numeric(y), ncol = 1)
  list(data = data, target = list(classes = FALSE, names = colnames(y)))
}

label_texts <- function(y) if (is.numeric(y)) number_text(y) else as.character(y)

# The classes of a model in the order of the user's factor; unknown levels of the factor stay levels.
class_levels <- function(target, classes) {
  if (is.null(target$levels)) return(classes)
  c(target$levels, setdiff(classes, target$levels))
}
