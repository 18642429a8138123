# SPDX-License-Identifier: Apache-2.0

test_that("distances of the training data are those of the formulas", {
  model <- kfe(mpg ~ ., mtcars, method = "pls", dim = 2, learner = "ls", scale = "standard")
  found <- kfe_diagnostics(model)
  n <- nrow(mtcars)
  x <- scale(as.matrix(mtcars[-1])) * sqrt(n / (n - 1))
  scores <- scale(kfe_transform(model, mtcars), scale = FALSE)
  leverage <- diag(scores %*% solve(crossprod(scores), t(scores)))
  rest <- x - scores %*% solve(crossprod(scores), t(scores) %*% x)
  expect_equal(unname(found$diagnostics[, "t2"]), unname((n - 1) * leverage), tolerance = 1e-8)
  expect_equal(unname(found$diagnostics[, "q"]), unname(rowSums(rest^2)), tolerance = 1e-8)
  expect_equal(unname(found$limits["t2", ]), 2 * (n^2 - 1) / (n * (n - 2)) * qf(0.95, 2, n - 2), tolerance = 1e-8)
  fit <- lm(mtcars$mpg ~ scores)
  expect_equal(unname(found$studentized[, 1]), unname(rstandard(fit)), tolerance = 1e-8)
  expect_equal(rownames(found$diagnostics), rownames(mtcars))
})

test_that("outliers are found and named", {
  model <- kfe(mpg ~ ., mtcars, method = "pls", dim = 2, learner = "ls")
  strange <- mtcars[1:3, ]
  strange[2, "wt"] <- 40
  expect_equal(kfe_outliers(model, strange), c("Mazda RX4" = FALSE, "Mazda RX4 Wag" = TRUE, "Datsun 710" = FALSE))
  expect_equal(dim(kfe_diagnostics(model, strange, contributions = TRUE)[["q-contributions"]]), c(3L, 10L))
  expect_error(kfe_outliers(kfe(mpg ~ ., mtcars, method = "kpca"), strange), "fit it with a learner")
})
