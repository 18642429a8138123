# SPDX-License-Identifier: Apache-2.0
# The library's tables. A method, kernel or parameter that is added to the library needs no R code.

FLAGS <- c(supervised = 0L, regression = 1L, kernels = 2L, views = 3L, sparse = 4L, nested = 9L, two_classes = 10L,
           weights = 11L, predicts = 12L, sample_weights = 14L)

entries <- function(table) as.data.frame(.Call(routines$entries, table), stringsAsFactors = FALSE)

has_flag <- function(flags, name) bitwAnd(flags, bitwShiftL(1L, FLAGS[[name]])) != 0L

param_rows <- function(table, index = 0L) {
  rows <- as.data.frame(.Call(routines$params, table, as.integer(index)), stringsAsFactors = FALSE)
  rows$name <- r_name(rows$name)
  rows
}

# The parameters of an entry; an unknown name is left to the library, which suggests a similar one.
entry_params <- function(table, name) {
  known <- entries(table)
  place <- match(name, ifelse(is.na(known$name), "", known$name))
  if (is.na(place)) place <- match(name, known$alias, incomparables = NA)
  if (is.na(place)) return(param_rows("fit")[0, ])
  param_rows(table, place - 1L)
}

find_entry <- function(table, name) {
  known <- entries(table)
  known[which(known$name == name | known$alias %in% name), ][1, ]
}

# max-iter in the library is max_iter in R; max.iter is accepted too.
r_name <- function(name) gsub("-", "_", name, fixed = TRUE)
library_name <- function(name) gsub("[_.]", "-", sub("_$", "", name))

with_flags <- function(rows, flags) {
  for (name in flags) rows[[name]] <- has_flag(rows$flags, name)
  rows
}

kfe_methods <- function(name = NULL) {
  rows <- with_flags(entries("method"), names(FLAGS))
  names(rows)[names(rows) == "formula"] <- "reference"
  table_or_params(rows[c("name", "summary", "reference", "kernel", names(FLAGS))], "method", name)
}

kfe_kernels <- function(name = NULL) {
  rows <- entries("kernel")
  rows$strings <- bitwAnd(rows$flags, bitwShiftL(1L, 8L)) != 0L
  table_or_params(rows[c("name", "summary", "formula", "alias", "strings")], "kernel", name)
}

kfe_learners <- function(name = NULL) {
  rows <- with_flags(entries("learner"), c("regression", "sample_weights"))
  table_or_params(rows[c("name", "summary", "regression", "sample_weights")], "learner", name)
}

kfe_steps <- function(name = NULL) {
  table_or_params(entries("step")[c("name", "summary", "formula")], "step", name)
}

kfe_metrics <- function() {
  rows <- with_flags(entries("metric"), "regression")
  names(rows)[names(rows) == "formula"] <- "direction"
  rows[c("name", "summary", "direction", "regression")]
}

table_or_params <- function(rows, table, name) {
  if (is.null(name)) return(rows)
  place <- match(one_string(name, "name"), rows$name)
  if (is.na(place))
    stop_kfe(sprintf("there is no %s \"%s\"%s; kfe_%ss() lists them", table, name, suggestion(name, rows$name), table), "argument")
  param_rows(table, place - 1L)
}

kfe_options <- function(of = c("fit", "cv", "compare", "tune", "evaluate", "explain", "report")) {
  if (missing(of)) of <- "fit"
  param_rows(one_of(one_string(of, "of"), eval(formals(kfe_options)$of), "of"))
}

kfe_version <- function() .Call(routines$version)

kfe_generate <- function(generator, ..., seed = NULL) {
  known <- entries("generator")
  if (missing(generator)) return(known[c("name", "summary", "formula")])
  found <- native("generate", make_settings(seed = seed), one_string(generator, "generator"), options_text(list(...)))
  x <- found$x
  if (!anyNA(found$names)) colnames(x) <- found$names
  frame <- as.data.frame(x)
  if (is.character(found$y)) frame$label <- factor(found$y, levels = found$classes)
  else if (!is.null(found$y) && ncol(found$y) == 1) frame$target <- found$y[, 1]
  else if (!is.null(found$y)) frame[paste0("target", seq_len(ncol(found$y)))] <- as.data.frame(found$y)
  frame
}
