# SPDX-License-Identifier: Apache-2.0
# Runs the R code of a page and compares its output with what the page shows after "#> ". Numbers may differ in their last digits.
# usage: Rscript page.R PAGE
lines <- readLines(commandArgs(TRUE)[1], encoding = "UTF-8")
fences <- which(grepl("^```", lines))
opening <- fences[c(TRUE, FALSE)]
closing <- fences[c(FALSE, TRUE)]
is_r <- lines[opening] == "```r"

tokens <- function(text) {
  words <- strsplit(trimws(paste(text, collapse = " ")), "[[:space:]]+")[[1]]
  words[nzchar(words)]
}

same <- function(shown, got) {
  numbers <- suppressWarnings(as.numeric(c(shown, got)))
  if (anyNA(numbers)) return(shown == got)
  abs(numbers[1] - numbers[2]) <= 1e-4 + 1e-3 * abs(numbers[1])
}

compare <- function(shown, got, code) {
  a <- tokens(shown)
  b <- tokens(got)
  if (length(a) != length(b) || !all(mapply(same, a, b)))
    stop("the page shows\n", paste(shown, collapse = "\n"), "\nbut got\n", paste(got, collapse = "\n"), "\nfrom\n",
         paste(code, collapse = "\n"), call. = FALSE)
}

run <- function(block) {
  is_output <- grepl("^#> ", block)
  # A step is some lines of code and the output that follows them.
  step <- cumsum(c(TRUE, head(is_output, -1) & !tail(is_output, -1)))
  for (part in split(seq_along(block), step)) {
    code <- block[part][!is_output[part]]
    got <- capture.output(for (expression in parse(text = code)) {
      value <- withVisible(eval(expression, globalenv()))
      if (value$visible) print(value$value)
    })
    compare(sub("^#> ", "", block[part][is_output[part]]), got, code)
  }
}

stopifnot(any(is_r), length(opening) == length(closing))
for (k in which(is_r)) run(lines[(opening[k] + 1):(closing[k] - 1)])
cat(sum(is_r), "blocks run as shown\n")
