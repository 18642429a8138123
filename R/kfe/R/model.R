# SPDX-License-Identifier: Apache-2.0
# Models: an object of class "kfe" holds the bytes of the model file, so that saveRDS() works, and an external pointer to
# the model in memory, which is made again after readRDS().

new_kfe <- function(handle, call, problem, settings) {
  facts <- native("inspect", list(), handle)
  bytes <- native("to_bytes", list(), handle)
  target <- problem$target
  structure(class = "kfe", list(
    call = call, method = facts$method, kernels = facts$kernels, learner = facts$learner, plain = facts$plain,
    dim = as.integer(facts$dim), features = facts$features,
    task = c("none", "classify", "regress")[facts$task + 1L], predicts = facts$outputs > 0,
    calibration = facts$calibration, classes = facts$classes, levels = class_levels(target, facts$classes), ordered = isTRUE(target$ordered),
    targets = target$names, rows = problem$rows, dropped = problem$dropped, support = as.integer(facts$support_size),
    places = problem$places, fills = problem$fills, schemas = problem$schemas, settings = settings[c("threads", "memory", "device", "verbose")], bytes = bytes,
    cache = handle_cache(handle)
  ))
}

handle_cache <- function(handle) {
  cache <- new.env(parent = emptyenv())
  cache$handle <- handle
  cache
}

# The model in memory; read from its bytes if the object was saved and loaded.
handle_of <- function(object) {
  object <- model_of(object)
  if (!.Call(routines$is_alive, object$cache$handle))
    object$cache$handle <- native("from_bytes", list(), object$bytes)
  object$cache$handle
}

# A model, or the one that a search has fitted.
model_of <- function(object) {
  if (inherits(object, "kfe")) return(object)
  if (inherits(object, "kfe_search") && !is.null(object$model)) return(object$model)
  if (inherits(object, "kfe_search")) stop_kfe("this search did not fit a model; fit one by kfe(), or search by kfe_cv() or kfe_tune()", "argument")
  stop_kfe(sprintf("this function takes a model of kfe(), not %s", article(class(object)[1])), "argument")
}

facts_of <- function(object) native("inspect", list(), handle_of(object))

# ---- files ----

kfe_save <- function(object, file) {
  native("save", list(), handle_of(object), path_of(file))
  invisible(object)
}

kfe_load <- function(file) {
  handle <- native("load", list(), path_of(file))
  problem <- list(schemas = schemas_of_model(native("inspect", list(), handle)), rows = NA_integer_, dropped = 0L,
                  fills = NULL) # the library knows whether the model fills gaps
  new_kfe(handle, match.call(), problem, make_settings())
}

kfe_onnx <- function(object, file, precision = c("float", "double")) {
  native("export_onnx", list(), handle_of(object), options_text(list(precision = match.arg(precision))), path_of(file))
  invisible(object)
}

path_of <- function(file) {
  file <- one_string(file, "file")
  if (is.null(file)) stop_kfe("file is NULL; it must be the name of a file", "argument")
  enc2utf8(path.expand(file))
}

# The columns that the model of a file was fitted on.
schemas_of_model <- function(facts) {
  schemas <- lapply(facts$views, function(view) {
    encoded <- !vapply(view$categories, is.null, TRUE)
    list(kind = if (view$strings) "text" else "numbers", names = source_names(view, encoded),
         cols = as.integer(view$source_cols), encoded = encoded)
  })
  if (length(schemas) > 1) names(schemas) <- vapply(facts$views, function(view) view$name, "")
  schemas
}

# Names before encoding: the columns "colour=red", "colour=blue" are one, "colour".
source_names <- function(view, encoded) {
  if (is.null(view$names) || !any(encoded)) return(view$names)
  place <- 0L
  names <- character(length(encoded))
  for (j in seq_along(encoded)) {
    words <- view$categories[[j]]
    first <- view$names[place + 1L]
    names[j] <- if (encoded[j]) substr(first, 1L, nchar(first) - nchar(words[1]) - 1L) else first
    place <- place + max(1L, length(words))
  }
  names
}

# ---- what users look at ----

# How the columns of each view were scaled and, of scale = "auto", why.
scaling_lines <- function(object) {
  views <- jsonlite::fromJSON(native("describe", list(), handle_of(object), TRUE), simplifyVector = FALSE)$views
  views <- Filter(function(view) !identical(view$support, "strings"), views)
  vapply(views, function(view) paste0("scaling", if (length(views) > 1) paste(" of", view$name), ": ", view$scaling), "")
}

# How ordered factors are read: "ordered     size: small < large as 1 to 2", as the lines of the library's description.
ordinal_lines <- function(schemas) {
  unlist(lapply(schemas, function(schema) {
    places <- which(!vapply(schema$levels, is.null, TRUE))
    vapply(unique(schema$levels[places]), function(levels) {
      same <- places[vapply(schema$levels[places], identical, TRUE, levels)]
      names <- if (is.null(schema$names)) paste("column", same) else schema$names[same]
      sprintf("ordered     %s: %s as 1 to %d", listed(names), paste(shortened(levels), collapse = " < "), length(levels))
    }, "")
  }))
}

# The first and the last of many.
shortened <- function(words) if (length(words) > 6) c(words[1:4], "...", words[length(words)]) else words

print.kfe <- function(x, ...) {
  kernels <- if (length(x$kernels) > 0) paste0(" with ", paste(printable(x$kernels), collapse = " + "))
  plain <- !is.null(x$plain)
  cat(if (plain) paste0(printable(x$plain), kernels, ", without a method") else paste0("Model of ", printable(x$method), kernels), "\n", sep = "")
  word <- if (!plain) "feature" else if (is.null(kernels)) "column" else "decision value"
  cat("  ", counted(x$dim, word), if (x$support > 0) paste(" from", counted(x$support, "support example")), "\n", sep = "")
  if (!is.na(x$rows))
    cat("  fitted on ", counted(x$rows, "example"), if (x$dropped > 0) sprintf(" (%d more had missing values)", x$dropped),
        "\n", sep = "")
  for (line in printable(scaling_lines(x))) cat("  ", line, "\n", sep = "")
  for (line in printable(ordinal_lines(x$schemas))) cat("  ", sub(" +", " ", line), "\n", sep = "")
  if (x$task == "classify") cat("  classes: ", listed(x$classes), "\n", sep = "")
  if (x$predicts && !plain) cat("  predicts by ", if (is.null(x$learner)) "itself" else printable(x$learner), "\n", sep = "")
  invisible(x)
}

counted <- function(count, word) paste0(count, " ", word, if (count != 1) "s")

summary.kfe <- function(object, ...) {
  text <- native("describe", list(), handle_of(object), FALSE)
  text <- paste0(text, paste0(printable(ordinal_lines(object$schemas)), "\n", recycle0 = TRUE, collapse = ""))
  structure(class = "summary.kfe", list(call = object$call, text = text, records = facts_of(object)$records))
}

print.summary.kfe <- function(x, ...) {
  if (!is.null(x$call)) cat("Call: ", paste(deparse(x$call), collapse = "\n  "), "\n\n", sep = "")
  cat(x$text)
  invisible(x)
}

# Numbers of rows that were fitted on, as numbers of rows of the data that was given.
training_rows <- function(object, rows) if (is.null(object$places)) rows else object$places[rows]

coef.kfe <- function(object, type = c("auto", "linear", "dual"), ...) {
  facts <- facts_of(object)
  type <- match.arg(type)
  linear <- facts$support_size == 0
  if (is.null(facts$coefficients))
    stop_kfe(sprintf("a model of %s has no matrix of coefficients", object$method), "unsupported")
  if (type == "linear" && !linear)
    stop_kfe(sprintf("%s is a kernel method: its coefficients are on support examples; use type = \"dual\"", object$method),
             "unsupported")
  if (type == "dual" && linear)
    stop_kfe(sprintf("%s is a linear method: its coefficients are on columns; use type = \"linear\"", object$method),
             "unsupported")
  result <- facts$coefficients
  names <- if (linear) unlist(lapply(facts$views, function(view) view$names)) else training_rows(object, facts$support)
  dimnames(result) <- list(if (length(names) == nrow(result)) as.character(names), object$features)
  attr(result, "offset") <- facts$offset
  result
}
