# SPDX-License-Identifier: Apache-2.0
# What the tests share.
flowers <- as.matrix(iris[, 1:4])
species <- iris$Species

# Equal up to the sign of each column.
expect_same_directions <- function(a, b, tolerance = 1e-8) {
  signs <- sign(colSums(a * b))
  expect_equal(unname(a %*% diag(signs, ncol(a))), unname(b), tolerance = tolerance)
}

# The command-line tool: the variable KFE, or kfe in the path.
command <- function() {
  found <- Sys.getenv("KFE", Sys.which("kfe"))
  if (!nzchar(found)) skip("the command kfe is not installed")
  found
}
