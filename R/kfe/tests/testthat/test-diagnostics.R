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

test_that("members are those of DD-SIMCA", {
  setosa <- as.matrix(iris[1:50, 1:4])
  model <- kfe(setosa, method = "pca", dim = 2, scale = "none")
  others <- as.matrix(iris[51:150, 1:4])
  pca <- prcomp(setosa)
  measure <- function(x) {
    centred <- sweep(x, 2, pca$center)
    scores <- centred %*% pca$rotation[, 1:2]
    cbind(rowSums(sweep(scores, 2, pca$sdev[1:2], "/")^2), rowSums((centred - scores %*% t(pca$rotation[, 1:2]))^2))
  }
  known <- measure(setosa)
  degrees <- 2 * colMeans(known)^2 / apply(known, 2, var)
  p <- function(x) pchisq(drop(measure(x) %*% (degrees / colMeans(known))), sum(degrees), lower.tail = FALSE)
  expect_equal(unname(kfe_diagnostics(model, setosa)$diagnostics[, "p-value"]), unname(p(setosa)), tolerance = 1e-7)
  expect_equal(unname(kfe_members(model, setosa, alpha = 0.1)), unname(p(setosa) >= 0.1))
  expect_false(any(kfe_members(model, others)))
  expect_equal(kfe_diagnostics(model, setosa, level = 0.9)$limits["distance-of-all", 1],
               qchisq(0.9^(1 / 50), sum(degrees)), tolerance = 1e-7, ignore_attr = TRUE)
  accepted <- kfe_diagnostics(model, as.matrix(iris[1:4]), y = iris$Species)$accepted
  expect_equal(unname(accepted[, "accepted"]), c(mean(p(setosa) >= 0.05), 0, 0))
})

test_that("outliers are found and named", {
  model <- kfe(mpg ~ ., mtcars, method = "pls", dim = 2, learner = "ls")
  strange <- mtcars[1:3, ]
  strange[2, "wt"] <- 40
  expect_equal(kfe_outliers(model, strange), c("Mazda RX4" = FALSE, "Mazda RX4 Wag" = TRUE, "Datsun 710" = FALSE))
  expect_equal(dim(kfe_diagnostics(model, strange, contributions = TRUE)[["q-contributions"]]), c(3L, 10L))
  expect_error(kfe_outliers(kfe(mpg ~ ., mtcars, method = "kpca"), strange), "fit it with a learner")
})
