# SPDX-License-Identifier: Apache-2.0
# Bad input is answered with what is wrong and what to do, in the words of R.

test_that("x and y are checked", {
  expect_error(kfe(as.matrix(iris), species, method = "koc"), "x is a matrix of text", class = "kfe_error_input")
  expect_error(kfe(iris[0, 1:4], species[0], method = "koc"), "x has no rows")
  expect_error(kfe(matrix(NA_real_, 3, 2), 1:3, method = "koc", missing = "drop"), "all 3 rows have missing values")
  expect_error(kfe(flowers, factor(rep("a", 150)), method = "koc"), "at least two classes")
  expect_error(kfe(flowers, species[1:10], method = "koc"), "y has 10 values, but x has 150 rows")
  expect_error(kfe(flowers, method = "koc"), "needs labels, but the data has none; give y")
  expect_error(kfe(NULL, species, method = "koc"), "x is NULL")
  expect_error(kfe(list(), species, method = "koc"), "x is an empty list|x has no rows")
  expect_error(kfe(data.frame(day = Sys.Date() + 1:4, x = 1:4), 1:4, method = "koc"), "column \"day\" of x is a Date")
  expect_error(kfe(flowers, as.list(1:150), method = "koc"), "y is a list")
  expect_error(kfe(matrix(Inf, 4, 2), c(1, 1, 2, 2), method = "koc", task = "classify"), "not a finite number")
})

test_that("parameters are checked, with suggestions", {
  expect_error(kfe(flowers, species), "method is missing.*kfe_methods\\(\\)", class = "kfe_error_argument")
  expect_error(kfe(flowers, species, method = "kox"), "did you mean 'koc'\\?\\); kfe_methods\\(\\) lists them")
  expect_error(kfe(flowers, species, method = "koc", dimm = 2), "did you mean 'dim'")
  expect_error(kfe(flowers, species, method = "koc", dim = -2), "dim takes an integer from 1 up or auto, not '-2'")
  expect_error(kfe(flowers, species, method = "koc", dim = NA), "dim must be a number, a word or TRUE or FALSE")
  expect_error(kfe(flowers, species, 3, method = "koc"), "an argument without a name, 3")
  expect_error(kfe(flowers, species, method = "koc", kernel = 3), "kernel takes names")
  expect_error(kfe(flowers, species, method = "koc", kernel = "rbff"), "did you mean 'rbf'")
  expect_error(kfe(flowers, species, method = "koc", missing = "mode"), "missing is one of error, mean")
  expect_error(kfe(flowers, species, method = "koc", task = "regress"), "needs numbers as y")
  expect_error(kfe(flowers, species, method = "koc", threads = 1.5), "threads must be one whole number")
  expect_error(kfe(flowers, species, method = "koc", memory = "lots"), "memory takes a number of bytes")
})

test_that("predictions are refused where the model cannot give them", {
  model <- kfe(flowers, species, method = "koc")
  expect_error(predict(model, flowers, type = "class"), "features only; fit it with a learner")
  expect_error(predict(model), "newdata is missing")
  expect_error(predict(model, flowers, type = "classes"), "type is one of")
  expect_error(predict(kfe(flowers, species, method = "koc", learner = "knn"), flowers, type = "prob"), "calibration = \"platt\"")
  number <- kfe(flowers[, 1:3], flowers[, 4], method = "kpls", learner = "ls")
  expect_error(predict(number, flowers[, 1:3], type = "class"), "type = \"response\"")
  formula <- kfe(Species ~ Sepal.Width + Petal.Width, iris, method = "koc")
  expect_error(predict(formula, iris[, 1:3]), "newdata lacks the column Petal.Width")
})

test_that("no rows give no predictions", {
  model <- kfe(Species ~ ., iris, method = "koc", learner = "svm")
  expect_identical(predict(model, iris[0, ]), factor(character(), levels = levels(species)))
  expect_identical(dim(kfe_transform(model, iris[0, ])), c(0L, 3L))
})

test_that("a memory limit is obeyed", {
  x <- matrix(0.5, 20000, 200)
  x[, 1] <- seq_len(20000)
  expect_error(kfe(x, method = "kpca", dim = 3, memory = "1M", threads = 1), "memory", class = "kfe_error_limit")
})
