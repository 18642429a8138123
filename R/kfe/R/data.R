# SPDX-License-Identifier: Apache-2.0
# Matrices, data frames, sparse matrices, strings and lists of them as descriptions of data, which src/data.c explains.
#
# A fit keeps a schema of each view, so that new data is brought into the same form:
#   kind     "numbers", "text"
#   names    names of the columns, or NULL
#   encoded  which columns are categories
#   levels   a list: the levels of columns that are ordered factors, which are read as the numbers 1, 2, ...
#   cols     the number of columns

is_sparse <- function(x) methods::is(x, "sparseMatrix")
is_views <- function(x) is.list(x) && !is.data.frame(x)

count_rows <- function(x) {
  if (is_views(x)) x <- x[[1]]
  if (is.null(dim(x))) length(x) else nrow(x)
}

# ---- one view ----

# Where a problem is: x, or view "a" of x.
place_of <- function(view, what) if (is.null(view)) what else sprintf("view \"%s\" of %s", view, what)

describe_view <- function(x, schema, view, what, strings) {
  place <- place_of(view, what)
  if (is.character(x) && is.null(dim(x))) return(describe_text(x, place, strings))
  if (inherits(x, "dist"))
    stop_kfe(sprintf("%s is distances; give the columns, or a kernel matrix with kernel = \"precomputed\"", place), "argument")
  if (is.numeric(x) && is.null(dim(x))) x <- matrix(x, ncol = 1)
  if (is_sparse(x)) return(describe_sparse(x, schema, place))
  if (is.data.frame(x)) return(describe_frame(x, schema, place))
  if (is.matrix(x) && is.character(x)) refuse_character_matrix(place)
  if (methods::is(x, "Matrix")) x <- as.matrix(x)
  if (is.matrix(x) && (is.numeric(x) || is.logical(x))) return(describe_matrix(x, schema, place))
  stop_kfe(sprintf("%s is %s; it must be a matrix, a data frame, a sparse matrix, or a list of them (views)",
                   place, article(class(x)[1])), "argument")
}

article <- function(word) paste(if (grepl("^[aeiou]", word)) "an" else "a", word)

refuse_character_matrix <- function(place) {
  stop_kfe(sprintf(paste("%s is a matrix of text; convert it to numbers, or give a data frame, whose factors and",
                         "strings are encoded as categories"), place))
}

describe_text <- function(x, place, strings) {
  if (!strings)
    stop_kfe(sprintf("%s is strings; use a kernel on strings, such as kernel = \"spectrum\", or a matrix of numbers",
                     place))
  if (anyNA(x)) stop_kfe(sprintf("%s: string %d is missing (NA)", place, which(is.na(x))[1]))
  list(kind = "text", value = enc2utf8(x), rows = length(x), names = NULL, encoded = NULL, texts = NULL)
}

describe_matrix <- function(x, schema, place) {
  places <- match_columns(colnames(x), ncol(x), schema, place)
  if (!is.null(places)) x <- x[, places, drop = FALSE]
  if (!is.null(schema) && (any(schema$encoded) || !all(vapply(schema$levels, is.null, TRUE))))
    return(describe_frame(as.data.frame(x), schema, place))
  list(kind = "dense", value = x, rows = nrow(x), names = names_or_null(colnames(x), schema), encoded = NULL, texts = NULL)
}

describe_sparse <- function(x, schema, place) {
  if (!requireNamespace("Matrix", quietly = TRUE)) stop_kfe("sparse matrices need the package Matrix", "unsupported")
  places <- match_columns(colnames(x), ncol(x), schema, place)
  if (!is.null(places)) x <- x[, places, drop = FALSE]
  if (!is.null(schema) && any(schema$encoded))
    stop_kfe(sprintf("%s is sparse, but the model was fitted on a data frame with categories; give a data frame", place))
  if (!methods::is(x, "dgCMatrix"))
    x <- methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  list(kind = "sparse", value = x, rows = nrow(x), names = names_or_null(colnames(x), schema), encoded = NULL, texts = NULL)
}

describe_frame <- function(x, schema, place) {
  x <- flatten_frame(x)
  places <- match_columns(names(x), length(x), schema, place)
  if (!is.null(places)) x <- x[places]
  rows <- if (length(x) > 0) length(x[[1]]) else 0L
  levels <- if (is.null(schema)) lapply(x, function(column) if (is.ordered(column)) levels(column)) else schema$levels
  encoded <- if (is.null(schema)) vapply(x, is_category, TRUE) & vapply(levels, is.null, TRUE) else schema$encoded
  columns <- lapply(seq_along(x), function(j) if (!encoded[j]) as_numbers(x[[j]], names(x)[j], place, levels[[j]]))
  texts <- lapply(x[encoded], function(column) enc2utf8(as.character(column)))
  list(kind = "frame", value = columns, rows = rows, names = names_or_null(names(x), schema),
       encoded = which(unname(encoded)) - 1L, texts = unname(texts), levels = unname(levels))
}

# Matrix columns of a data frame (as a formula may make) become columns of their own.
flatten_frame <- function(x) {
  parts <- lapply(names(x), function(name) {
    column <- x[[name]]
    if (is.null(dim(column))) return(stats::setNames(list(column), name))
    own <- if (is.null(colnames(column))) seq_len(ncol(column)) else colnames(column)
    stats::setNames(lapply(seq_len(ncol(column)), function(j) column[, j]), paste(name, own, sep = "."))
  })
  do.call(c, parts)
}

is_category <- function(column) is.factor(column) || is.character(column)

as_numbers <- function(column, name, place, levels = NULL) {
  if (!is.null(levels)) return(as_ordinals(column, name, place, levels))
  if (is.numeric(column) && !is.object(column) || is.logical(column)) return(column)
  if (inherits(column, "difftime") || inherits(column, "integer64")) return(as.numeric(column))
  if (is_category(column))
    stop_kfe(sprintf("column \"%s\" of %s is categories, but it was numbers when the model was fitted%s", name, place,
                     if (is.ordered(column)) "; as.integer() gives the numbers of an ordered factor" else ""))
  if (is.numeric(column)) return(as.numeric(column))
  stop_kfe(sprintf("column \"%s\" of %s is %s; convert it to numbers or to a factor, or leave it out", name, place,
                   article(class(column)[1])))
}

# An ordered factor as the numbers of its levels.
as_ordinals <- function(column, name, place, levels) {
  known <- paste(shortened(levels), collapse = " < ")
  if (!is_category(column) && !all(is.na(column)))
    stop_kfe(sprintf("column \"%s\" of %s is not a factor, but it was an ordered factor when the model was fitted: %s", name, place, known))
  numbers <- match(as.character(column), levels)
  unseen <- which(is.na(numbers) & !is.na(column))
  if (length(unseen) > 0)
    stop_kfe(sprintf("column \"%s\" of %s holds \"%s\" in row %d, which is not among the ordered levels of the model: %s", name, place,
                     as.character(column[unseen[1]]), unseen[1], known))
  as.numeric(numbers)
}

# ---- columns of new data ----

names_or_null <- function(names, schema) {
  if (!is.null(schema)) return(if (!anyDuplicated(schema$names)) schema$names)  # of equal names, the place decides
  if (is.null(names) || anyNA(names) || any(!nzchar(names))) NULL else names
}

# The places of the model's columns in new data. NULL: as they are.
match_columns <- function(names, count, schema, place) {
  if (is.null(schema)) return(NULL)
  if (is.null(schema$names) || is.null(names)) {
    if (count != schema$cols)
      stop_kfe(sprintf("%s has %d columns, but the model was fitted on %d", place, count, schema$cols))
    return(NULL)
  }
  twice <- c(schema$names[duplicated(schema$names)], intersect(names[duplicated(names)], schema$names))
  if (length(twice) > 0)
    stop_kfe(sprintf(paste("two columns of %s are called \"%s\", so it is not clear which is which; give a matrix without",
                           "column names in the order of the fit, or rename them and fit again"), place, twice[1]))
  places <- match(schema$names, names)
  lacking <- schema$names[is.na(places)]
  if (length(lacking) > 0)
    stop_kfe(sprintf("%s lacks %s %s of the model", place, if (length(lacking) > 1) "the columns" else "the column",
                     listed(lacking)))
  if (identical(places, seq_len(count))) NULL else places
}

schema_of <- function(view) {
  count <- switch(view$kind, text = 1L, frame = length(view$value), ncol(view$value))
  list(kind = if (view$kind == "text") "text" else "numbers", names = view$names, cols = count,
       encoded = seq_len(count) %in% (view$encoded + 1L), levels = if (is.null(view$levels)) vector("list", count) else view$levels)
}

# ---- all views ----

# The description of x without a target. schemas NULL: for a fit.
describe_x <- function(x, schemas = NULL, strings = FALSE, what = "x") {
  if (is.null(x)) stop_kfe(sprintf("%s is NULL; it must be a matrix, a data frame or a list of them", what), "argument")
  if (!is_views(x)) {
    if (length(schemas) > 1)
      stop_kfe(sprintf("%s is one table, but the model was fitted on %d views; give a list of %s", what, length(schemas),
                       listed(names(schemas))))
    return(list(views = list(describe_view(x, schemas[[1]], NULL, what, strings)), names = NULL))
  }
  if (length(x) == 0) stop_kfe(sprintf("%s is an empty list; give a matrix for each view", what))
  if (is.null(names(x)) || any(!nzchar(names(x)))) names(x) <- view_names(x, schemas)
  x <- match_views(x, schemas, what)
  views <- lapply(names(x), function(name) describe_view(x[[name]], schemas[[name]], name, what, strings))
  check_view_rows(views, names(x))
  refuse_categories(views, names(x))
  list(views = views, names = names(x))
}

view_names <- function(x, schemas) {
  if (length(schemas) == length(x)) return(names(schemas))
  given <- if (is.null(names(x))) rep("", length(x)) else names(x)
  ifelse(nzchar(given), given, paste0("view", seq_along(x)))
}

match_views <- function(x, schemas, what) {
  if (is.null(schemas)) return(x)
  lacking <- setdiff(names(schemas), names(x))
  if (length(lacking) > 0)
    stop_kfe(sprintf("%s lacks the view %s; the model has %s", what, lacking[1], listed(names(schemas))))
  x[names(schemas)]
}

check_view_rows <- function(views, names) {
  rows <- vapply(views, function(view) as.numeric(view$rows), 0)
  if (any(rows != rows[1]))
    stop_kfe(sprintf("views must have the same rows, but %s has %d and %s has %d", names[1], rows[1],
                     names[rows != rows[1]][1], rows[rows != rows[1]][1]))
}

# Models keep the categories of one table only.
refuse_categories <- function(views, names) {
  for (k in seq_along(views))
    if (length(views[[k]]$encoded) > 0)
      stop_kfe(sprintf(paste("view \"%s\" has a column of categories, \"%s\", which only one table may have; give one data",
                             "frame and divide it: views = list(%s = columns, ...)"), names[k],
                       column_label(views[[k]], views[[k]]$encoded[1] + 1L), names[k]), "unsupported")
}

# Views as columns of one table: list(a = c("x1", "x2"), b = 3:5).
describe_division <- function(views, x) {
  if (is.null(views)) return(NULL)
  if (!is.list(views) || is.null(names(views)) || any(!nzchar(names(views))))
    stop_kfe(sprintf("views is a list of columns by name, such as list(left = 1:3, right = 4:6), not %s", shown(views)),
             "argument")
  if (is_views(x)) stop_kfe("views divides the columns of one table, but x is a list of several", "argument")
  known <- colnames(x)
  columns <- vapply(names(views), function(name) division_columns(views[[name]], name, known, ncol(x)), "")
  list(names = names(views), columns = unname(columns))
}

division_columns <- function(columns, view, known, count) {
  numbers <- if (is.character(columns)) match(columns, known) else if (is.logical(columns)) which(columns) else columns
  if (length(numbers) == 0 || anyNA(numbers) || any(numbers < 1 | numbers > count))
    stop_kfe(sprintf("view \"%s\" names columns that x does not have: %s", view,
                     listed(columns[is.na(numbers) | numbers < 1 | numbers > count])))
  paste(sort(unique(as.integer(numbers))), collapse = ",")
}

# ---- missing values ----

MISSING <- c("error", "mean", "median", "most_frequent", "nipals", "drop")

check_missing <- function(missing) {
  word <- r_name(one_string(missing, "missing"))
  one_of(word, MISSING, "missing")
}

rows_with_gaps <- function(x, y) {
  gaps <- rep(FALSE, count_rows(x))
  for (table in if (is_views(x)) x else list(x))
    gaps <- gaps | if (is_sparse(table)) sparse_gaps(table) else if (is.null(dim(table))) is.na(table) else !stats::complete.cases(table)
  if (!is.null(y)) gaps <- gaps | if (is.null(dim(y))) is.na(y) else !stats::complete.cases(y)
  gaps
}

sparse_gaps <- function(x) is.na(Matrix::rowSums(x))

take_rows <- function(x, rows) {
  if (is_views(x)) return(lapply(x, take_rows, rows))
  if (is.null(dim(x))) x[rows] else x[rows, , drop = FALSE]
}
