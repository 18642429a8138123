# SPDX-License-Identifier: Apache-2.0
# "Did you mean": names of arguments and words that are like a known one. Names of the library's tables that R does not
# look up itself are suggested by the library.

# " (did you mean 'dim'?)", or "" if no known name is similar.
suggestion <- function(name, known) {
  similar <- most_similar(name, known)
  if (is.null(similar)) "" else sprintf(" (did you mean '%s'?)", similar)
}

# One letter in three may differ, up to two; two letters that are swapped count once.
most_similar <- function(name, known) {
  known <- setdiff(known[!is.na(known)], "...")
  if (length(known) == 0 || length(name) != 1 || !nzchar(name)) return(NULL)
  name <- r_name(library_name(name))
  distance <- utils::adist(name, known, ignore.case = TRUE)[1, ]
  distance[vapply(known, has_same_letters, TRUE, name)] <- 1
  best <- which.min(distance)
  if (distance[best] <= min(2, (nchar(name) - 1) %/% 2)) known[best]
}

has_same_letters <- function(a, b) identical(sort(strsplit(a, "")[[1]]), sort(strsplit(b, "")[[1]]))

# One of several words.
one_of <- function(word, words, name) {
  if (!word %in% words)
    stop_kfe(sprintf("%s is one of %s, not \"%s\"%s", name, listed(words), word, suggestion(word, words)), "argument")
  word
}

# Refuses the first of the names that is like a known one.
refuse_similar <- function(names, known) {
  for (name in names) {
    similar <- suggestion(name, known)
    if (nzchar(similar)) stop_kfe(sprintf("there is no argument '%s'%s", name, similar), "argument")
  }
}

# Refuses further arguments of a function that takes no others than `known`.
refuse_unknown <- function(names, what, known) {
  names <- names[nzchar(names)]
  if (length(names) > 0)
    stop_kfe(sprintf("%s takes no argument '%s'%s", what, names[1], suggestion(names[1], known)), "argument")
}

# Options of a call of the library as text. Misspelt names of the function's own arguments are found here, too.
checked_options <- function(options, table, taken) {
  check_named(options)
  rows <- param_rows(table)
  own <- c(rows$name, r_name(rows$alias[!is.na(rows$alias)]))
  refuse_similar(names(options)[!r_name(library_name(names(options))) %in% own], c(own, taken))
  options_text(options)
}
