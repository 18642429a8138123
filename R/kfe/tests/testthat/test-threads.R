# SPDX-License-Identifier: Apache-2.0
# Threads that wait for work sleep, although R has loaded OpenMP with its BLAS before this package.

# Seconds of the processor that a fit with many short parallel parts takes in a process of its own.
fit_seconds <- function(variables) {
  script <- tempfile(fileext = ".R")
  writeLines(c("d <- kfe::kfe_generate('waveform', n = 700, seed = 1)",
               "fit <- function() suppressWarnings(kfe::kfe(label ~ ., d, method = 'svm-joint', dim = 2, kernel = 'rbf', gamma = 0.05, threads = 2))",
               "invisible(fit())",
               "cat(sum(system.time(fit())[c('user.self', 'sys.self')]))"), script)
  ways <- c("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
  unset <- paste("-u", c(setdiff(ways, sub("=.*", "", variables)), "OMP_NUM_THREADS"))
  as.numeric(system2("env", c(unset, variables, file.path(R.home("bin"), "Rscript"), script), stdout = TRUE))
}

test_that("waiting threads sleep", {
  skip_on_os("windows")
  skip_if(!nzchar(Sys.which("nproc")) || as.integer(system2("nproc", "--all", stdout = TRUE)) < 2, "one processor")
  expect_lt(fit_seconds(character()), 2 * fit_seconds("OMP_WAIT_POLICY=passive") + 0.1)
})
