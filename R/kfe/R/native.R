# SPDX-License-Identifier: Apache-2.0
# Calls of the library, and its failures as conditions.

routines <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  dll <- library.dynam("kfe", pkgname, libname)
  found <- getDLLRegisteredRoutines(dll)[[".Call"]]
  for (name in names(found)) assign(sub("^rkfe_", "", name), found[[name]], envir = routines)
  .Call(routines$let_threads_sleep) # R's BLAS has loaded OpenMP already, so that OMP_WAIT_POLICY would come too late
}

.onAttach <- function(libname, pkgname) {
  core <- .Call(routines$blas_advice)
  if (!is.na(core))
    packageStartupMessage("OpenBLAS does not know this processor and is several times slower than it could be; set ",
                          "OPENBLAS_CORETYPE=", core, " in the environment before R starts")
}

# There is no .onUnload: models that outlive the namespace are freed by functions of the shared object, and OpenMP's threads
# wait in it.

# The classes of conditions, by kfe_status.
STATUS <- c("memory", "argument", "input", "io", "model", "limit", "numeric", "unsupported", "cancel", "device")

stop_kfe <- function(message, kind = "input", call = NULL) {
  classes <- c(paste0("kfe_error_", kind), "kfe_error", "error", "condition")
  stop(structure(class = classes, list(message = printable(message), call = call)))
}

warn_kfe <- function(message, call = NULL) {
  warning(structure(class = c("kfe_warning", "warning", "condition"), list(message = printable(message), call = call)))
}

# Calls a routine that opens a session; gives its value, its warnings and its failure.
native <- function(name, settings, ...) {
  reply <- .Call(routines[[name]], settings, ...)
  for (text in reply$warnings) warn_kfe(text)
  if (reply$status != 0L) stop_kfe(reply$message, STATUS[reply$status])
  reply$value
}

# Settings of a context, checked.
make_settings <- function(seed = NULL, threads = NULL, memory = NULL, device = NULL, verbose = FALSE) {
  list(seed = whole_number(seed, "seed", 0), threads = whole_number(threads, "threads", 0),
       memory = parse_memory(memory), device = one_string(device, "device"), verbose = isTRUE(as.logical(verbose)))
}

whole_number <- function(value, name, least) {
  if (is.null(value)) return(NULL)
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value < least || value != floor(value))
    stop_kfe(sprintf("%s must be one whole number from %g, not %s", name, least, shown(value)), "argument")
  as.numeric(value)
}

one_string <- function(value, name) {
  if (is.null(value)) return(NULL)
  if (!is.character(value) || length(value) != 1 || is.na(value))
    stop_kfe(sprintf("%s must be one string, not %s", name, shown(value)), "argument")
  value
}

# Bytes, from a number or from text such as "500M", "1.5GB" or "8GiB".
parse_memory <- function(memory) {
  if (is.null(memory)) return(NULL)
  if (is.numeric(memory)) return(whole_number(floor(memory), "memory", 0))
  pattern <- "^\\s*([0-9.]+)\\s*([KMGT]?)(i?)(B?)\\s*$"
  if (!is.character(memory) || length(memory) != 1 || !grepl(pattern, memory, ignore.case = TRUE))
    stop_kfe(sprintf("memory takes a number of bytes or a size such as \"500M\" or \"8GiB\", not %s", shown(memory)), "argument")
  part <- function(k) sub(pattern, paste0("\\", k), memory, ignore.case = TRUE)
  base <- if (nzchar(part(4)) && !nzchar(part(3))) 1000 else 1024
  floor(as.numeric(part(1)) * base^match(toupper(part(2)), c("", "K", "M", "G", "T"), nomatch = 1) / base)
}

# A value as R code, cut.
shown <- function(value) {
  text <- paste(deparse(value, width.cutoff = 60L), collapse = " ")
  if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}

# Names as they may be printed: control characters of a file, which a terminal would obey, become \\x1b and the like.
printable <- function(names) .Call(routines$shown, enc2utf8(as.character(names)))

# "a, b and c", at most ten.
listed <- function(names) {
  names <- printable(names)
  if (length(names) > 10) return(paste0(paste(names[1:10], collapse = ", "), ", ... (", length(names), " in all)"))
  if (length(names) < 2) return(paste(names))
  paste(paste(names[-length(names)], collapse = ", "), "and", names[length(names)])
}
