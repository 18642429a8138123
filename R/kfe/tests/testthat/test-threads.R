# SPDX-License-Identifier: Apache-2.0
# Threads that wait for work sleep, although R has loaded OpenMP with its BLAS before this package.

# What a new process of R prints, with an environment that says nothing of threads but `variables`.
in_new_process <- function(lines, variables = character()) {
  script <- tempfile(fileext = ".R")
  writeLines(lines, script)
  system2("env", c(clean(variables), variables, file.path(R.home("bin"), "Rscript"), script), stdout = TRUE)
}

clean <- function(variables = character()) {
  ways <- c("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
  paste("-u", c(setdiff(ways, sub("=.*", "", variables)), "OMP_NUM_THREADS"))
}

# Seconds of the processor that a fit with many short parallel parts takes in a process of its own.
fit_seconds <- function(variables) {
  as.numeric(in_new_process(c("d <- kfe::kfe_generate('waveform', n = 700, seed = 1)",
    "fit <- function() suppressWarnings(kfe::kfe(label ~ ., d, method = 'svm-joint', dim = 2, kernel = 'rbf', gamma = 0.05, threads = 2))",
    "invisible(fit())",
    "cat(sum(system.time(fit())[c('user.self', 'sys.self')]))"), variables))
}

skip_without_processors <- function() {
  skip_on_os("windows")
  skip_if(!nzchar(Sys.which("nproc")) || as.integer(system2("nproc", "--all", stdout = TRUE)) < 2, "one processor")
}

test_that("waiting threads sleep", {
  skip_without_processors()
  expect_lt(fit_seconds(character()), 2 * fit_seconds("OMP_WAIT_POLICY=passive") + 0.1)
})

test_that("a search takes the processor time of the command", {
  skip_without_processors()
  kfe_command <- command()
  data <- tempfile(fileext = ".csv")
  write.csv(kfe_generate("waveform", n = 300, seed = 1), data, row.names = FALSE)
  in_r <- in_new_process(c(sprintf("d <- read.csv('%s', stringsAsFactors = TRUE)", data),
    "used <- system.time(found <- kfe::kfe_tune(label ~ ., d, time = NULL, trials = 12, seed = 1, threads = 2))",
    "cat(sum(used[c('user.self', 'sys.self')]), nrow(found$ranking))"))
  model <- tempfile(fileext = ".kfe")
  flags <- c("tune", "-q", "--label", "label", "--time", "none", "--trials", "12", "--seed", "1", "--threads", "2", "--json", shQuote(data), "-o", shQuote(model))
  used <- system.time(out <- suppressWarnings(system2("env", c(clean(), shQuote(kfe_command), flags), stdout = TRUE, stderr = FALSE)))
  words <- strsplit(in_r, " ")[[1]]
  ranking <- jsonlite::fromJSON(paste(out, collapse = "\n"))$ranking
  expect_identical(as.integer(words[[2]]), nrow(ranking)) # the same search
  expect_lt(as.numeric(words[[1]]), 2 * sum(used[c("user.child", "sys.child")]) + 0.2)
})
