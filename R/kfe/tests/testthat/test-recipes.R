# SPDX-License-Identifier: Apache-2.0
# step_kfe in recipes.

test_that("a step gives the features of the model", {
  skip_if_not_installed("recipes")
  suppressPackageStartupMessages(library(recipes))
  start <- recipe(Species ~ ., data = iris)
  prepared <- prep(step_kfe(start, all_numeric_predictors(), method = "koc", num_comp = 2, options = list(kernel = "rbf", gamma = 0.2)))
  baked <- bake(prepared, iris[1:10, ])
  direct <- kfe(Species ~ ., iris, method = "koc", dim = 2, gamma = 0.2)
  expect_identical(names(baked), c("Species", "kfe1", "kfe2"))
  expect_equal(unname(as.matrix(baked[, 2:3])), unname(kfe_transform(direct, iris[1:10, ])))
  expect_identical(nrow(bake(prepared, new_data = NULL)), 150L)
  kept <- prep(step_kfe(start, all_numeric_predictors(), num_comp = 1, keep_original_cols = TRUE, prefix = "k"))
  expect_identical(names(bake(kept, iris)), c(names(iris), "k1"))
  expect_output(print(prepared), "Kernel features by koc")
})

test_that("a step can be described, tuned and saved", {
  skip_if_not_installed("recipes")
  suppressPackageStartupMessages(library(recipes))
  plain <- step_kfe(recipe(Species ~ ., data = iris), all_numeric_predictors(), method = "pca", num_comp = 2, id = "features")
  expect_identical(tidy(plain, 1)$value, NA_real_)
  prepared <- prep(plain)
  weights <- tidy(prepared, 1)
  direct <- coef(kfe(iris[, 1:4], method = "pca", dim = 2))
  expect_identical(weights$terms, rep(names(iris)[1:4], 2))
  expect_equal(weights$value, as.vector(direct))
  expect_identical(weights$id, rep("features", 8))
  expect_identical(required_pkgs(plain$steps[[1]]), "kfe")
  expect_identical(tunable(plain$steps[[1]])$name, "num_comp")
  again <- unserialize(serialize(prepared, NULL))
  expect_identical(bake(again, iris), bake(prepared, iris))
})

test_that("a step refuses what it cannot use", {
  skip_if_not_installed("recipes")
  suppressPackageStartupMessages(library(recipes))
  no_outcome <- step_kfe(recipe(~ ., data = iris[, 1:4]), all_predictors(), method = "koc")
  expect_error(prep(no_outcome), "no outcome")
  expect_error(step_kfe(recipe(Species ~ ., data = iris), all_numeric(), options = "rbf"), "options is a list")
})
