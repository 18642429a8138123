# SPDX-License-Identifier: Apache-2.0
# Ctrl-C ends a fit, by R's own interrupt, and the package works on.

test_that("an interrupt stops the library", {
  skip_on_os("windows")
  set.seed(1)
  x <- matrix(rnorm(4000 * 20), 4000)
  # Without the interrupt this takes minutes: hundreds of fits.
  long <- function() kfe_cv(x, x[, 1], method = "kpls", learner = "ls", grid = list(gamma = 1:50 / 100), threads = 1, task = "regress")
  system(sprintf("(sleep 1; kill -INT %d) > /dev/null 2>&1 &", Sys.getpid()))
  result <- tryCatch(long(), interrupt = function(condition) "interrupted")
  expect_identical(result, "interrupted")
  expect_identical(kfe(flowers, method = "pca")$dim, 4L)
})
