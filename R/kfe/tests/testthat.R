# SPDX-License-Identifier: Apache-2.0
if (requireNamespace("testthat", quietly = TRUE)) {
  library(testthat)
  library(kfe)
  test_check("kfe")
}
