# SPDX-License-Identifier: Apache-2.0
# Methods, kernels and their parameters as the library reads them. src/spec.c describes the list that make_spec returns.

# A value as text for the library: TRUE is yes, several values are joined by semicolons.
as_text <- function(value, name = "value") {
  if (is.factor(value)) value <- as.character(value)
  if (is.list(value) && !is.null(names(value)))
    return(paste(names(value), vapply(value, as_text, "", name), sep = ":", collapse = ";"))
  if (!is.null(names(value)) && is.atomic(value) && length(value) > 0)
    return(paste(names(value), vapply(unname(value), as_text, "", name), sep = ":", collapse = ";"))
  if (!is.atomic(value) || length(value) == 0 || anyNA(value))
    stop_kfe(sprintf("%s must be a number, a word or TRUE or FALSE, not %s", name, shown(value)), "argument")
  if (is.logical(value)) text <- ifelse(value, "yes", "no")
  else if (is.numeric(value)) text <- number_text(value)
  else text <- as.character(value)
  paste(text, collapse = ";")
}

# The shortest text that reads as the same number.
number_text <- function(value) {
  text <- vapply(as.numeric(value), format, "", digits = 15L, trim = TRUE)
  exact <- suppressWarnings(as.numeric(text)) == value
  text[!exact] <- sprintf("%.17g", value[!exact])
  text
}

# Parameters as named texts.
as_texts <- function(params) {
  check_named(params)
  texts <- vapply(seq_along(params), function(k) as_text(params[[k]], names(params)[k]), "")
  names(texts) <- library_name(names(params))
  texts
}

check_named <- function(params) {
  unnamed <- which(if (is.null(names(params))) rep(TRUE, length(params)) else !nzchar(names(params)))
  if (length(unnamed) > 0)
    stop_kfe(sprintf("an argument without a name, %s; arguments after the data are given by name, such as %s = %s",
                     shown(params[[unnamed[1]]]), if (is.character(params[[unnamed[1]]])) "method" else "dim",
                     if (is.character(params[[unnamed[1]]])) shown(params[[unnamed[1]]]) else "2"), "argument")
}

# Options as "key=value,key=value"; NULL if there are none.
options_text <- function(options) {
  options <- options[!vapply(options, is.null, TRUE)]
  if (length(options) == 0) return(NULL)
  texts <- as_texts(options)
  paste(names(texts), gsub(",", "\\,", gsub("\\", "\\\\", texts, fixed = TRUE), fixed = TRUE), sep = "=", collapse = ",")
}

kfe_kernel <- function(name, ...) {
  text <- one_string(name, "name")
  options <- options_text(list(...))
  if (is.null(options)) return(text)
  paste(text, options, sep = if (grepl(":", text, fixed = TRUE)) "," else ":")
}

# The kernels as texts, named by view if they are a named list or vector.
kernel_texts <- function(kernel) {
  if (is.null(kernel)) return(character())
  texts <- unlist(kernel)
  if (!is.character(texts) || anyNA(texts))
    stop_kfe(sprintf("kernel takes names such as \"rbf\" or \"rbf:gamma=0.2\", not %s; kfe_kernels() lists them",
                     shown(kernel)), "argument")
  if (!is.null(names(kernel))) names(texts) <- rep(names(kernel), lengths(kernel))
  texts
}

kernel_name <- function(text) sub(":.*", "", text)

# "svm:C=10", or a list such as list("svm", C = 10), as list(name =, params =).
parse_learner <- function(learner) {
  if (is.null(learner)) return(list(name = NULL, params = NULL))
  options <- NULL
  if (is.list(learner)) {
    options <- options_text(learner[-1])
    learner <- learner[[1]]
  }
  learner <- one_string(learner, "learner")
  inline <- if (grepl(":", learner, fixed = TRUE)) sub("^[^:]*:", "", learner)
  list(name = sub(":.*", "", learner), params = paste(c(inline, options), collapse = ","))
}

# Divides named parameters among the method (with the options of the fit), the learner and the kernels, in this order. A
# name that is like none of theirs goes to the method, and the library says what it has.
divide_params <- function(params, method, kernels, learner, also) {
  check_named(params)
  named <- function(rows) c(rows$name, r_name(rows$alias[!is.na(rows$alias)]))
  given <- r_name(library_name(names(params)))
  of_method <- named(entry_params("method", method))
  own <- given %in% c(of_method, named(param_rows("fit")))
  of_learner <- if (is.null(learner)) character() else named(entry_params("learner", learner))
  learners <- !own & given %in% of_learner
  of_kernels <- unique(unlist(lapply(kernel_name(kernels), function(k) named(entry_params("kernel", k)))))
  kernel <- !own & !learners & given %in% of_kernels
  unknown <- names(params)[!own & !learners & !kernel]
  if (!is.na(find_entry("method", method)$name))
    refuse_similar(unknown, c(of_method, named(param_rows("fit")), of_learner, of_kernels, also))
  list(method = params[!learners & !kernel], learner = params[learners], kernel = params[kernel])
}

# Adds parameters to the kernels that have them.
add_to_kernels <- function(kernels, params) {
  for (k in seq_along(kernels)) {
    known <- entry_params("kernel", kernel_name(kernels[k]))$name
    own <- params[r_name(library_name(names(params))) %in% known]
    if (length(own) > 0) kernels[k] <- do.call(kfe_kernel, c(list(unname(kernels[k])), own))
  }
  kernels
}

default_kernel <- function(method) {
  kernel <- find_entry("method", method)$kernel
  if (is.na(kernel)) character() else kernel
}

# `also`: names that the caller takes beside the parameters, for suggestions.
make_spec <- function(method, kernel, learner, params, also = names(formals(kfe.default))) {
  check_named(params)
  if (missing(method) || is.null(method)) {
    refuse_similar(names(params), "method")
    stop_kfe("method is missing, such as method = \"koc\"; kfe_methods() lists them", "argument")
  }
  method <- library_name(one_string(method, "method"))
  learner <- parse_learner(learner)
  kernels <- kernel_texts(kernel)
  known <- if (length(kernels) > 0) kernels else default_kernel(method)
  parts <- divide_params(params, method, known, learner$name, also)
  if (length(parts$kernel) > 0) kernels <- add_to_kernels(known, parts$kernel)
  of_learner <- c(if (!is.null(learner$params) && nzchar(learner$params)) learner$params, options_text(parts$learner))
  list(method = method, params = as_texts(parts$method), kernels = kernels, learner = learner$name,
       learner_params = if (length(of_learner) > 0) paste(of_learner, collapse = ","))
}

takes_strings <- function(kernels) {
  known <- kfe_kernels()
  length(kernels) > 0 && any(known$strings[known$name %in% kernel_name(kernels)])
}
