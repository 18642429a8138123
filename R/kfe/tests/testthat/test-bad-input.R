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

test_that("what the data is not is named", {
  expect_error(kfe(Species ~ ., iris, "koc"), 'an argument without a name, "koc".*method = "koc"', class = "kfe_error_argument")
  expect_error(kfe(dist(flowers), species, method = "koc"), "x is distances")
  expect_error(kfe(flowers, species, method = "koc", weights = 1), "there is 1 weight, but x has 150 rows")
  expect_error(kfe(flowers, "Species", method = "koc"), "y has 1 value, but x has 150 rows")
  formula <- kfe(Species ~ Sepal.Length, iris, method = "koc", learner = "knn")
  expect_error(predict(formula, 5), "newdata is a numeric without names; it must be a data frame with Sepal.Length")
  expect_identical(predict(formula, list(Sepal.Length = 5)), predict(formula, data.frame(Sepal.Length = 5)))
  plain <- kfe(flowers, species, method = "koc", learner = "knn")
  expect_identical(predict(plain, as.list(iris[1:3, 4:1])), predict(plain, flowers[1:3, ]))
  expect_error(predict(plain, list(1, 2, 3, 4)), "newdata is a list, but the model was fitted on one table")
})

test_that("columns of one name are told at the fit and refused where names decide", {
  twins <- flowers
  colnames(twins)[2] <- "Sepal.Length"
  for (x in list(twins, as.matrix(twins))) {
    expect_warning(model <- kfe(x, species, method = "koc", gamma = 0.3), "columns 1 and 2 are both called 'Sepal.Length'",
                   class = "kfe_warning")
    for (given in list(x, x[, c(2, 1, 3, 4)]))
      expect_error(kfe_transform(model, given), "two columns of newdata are called \"Sepal.Length\"", class = "kfe_error")
    expect_equal(kfe_transform(model, unname(as.matrix(x))),
                 kfe_transform(kfe(flowers, species, method = "koc", gamma = 0.3), flowers))
  }
  model <- kfe(flowers, species, method = "koc")
  expect_error(kfe_transform(model, cbind(flowers, Sepal.Length = 1)), "two columns of newdata are called \"Sepal.Length\"")
  expect_error(kfe_transform(model, cbind(as.matrix(flowers), Sepal.Length = 0)), "are called \"Sepal.Length\"")
})

test_that("misspelt arguments, options and words are suggested", {
  model <- kfe(mpg ~ ., mtcars, method = "pls", learner = "ls")
  meant <- function(code, word) expect_error(code, sprintf("did you mean '%s'", word), class = "kfe_error")
  meant(kfe(flowers, species, mehtod = "koc"), "method")
  meant(kfe_cv(flowers, species, methd = "koc", learner = "knn"), "method")
  meant(kfe(flowers, species, method = "koc", lerner = "svm"), "learner")
  meant(kfe(flowers, species, method = "koc", kernal = "rbf"), "kernel")
  meant(kfe(flowers, species, method = "koc", gama = 1), "gamma")
  meant(kfe(flowers, species, method = "koc", wieghts = 1), "weights")
  meant(kfe(flowers, species, method = "koc", missing = "men"), "mean")
  meant(kfe_cv(flowers, species, method = "koc", learner = "knn", fold = 3), "folds")
  meant(kfe_compare(flowers, species, list(list(method = "koc"), list(method = "pca")), flods = 3), "folds")
  meant(kfe_tune(flowers, species, trails = 3), "trials")
  meant(kfe_tune(flowers, species, sede = 3), "seed")
  meant(predict(model, mtcars, tpye = "response"), "type")
  meant(predict(model, mtcars, type = "feature"), "features")
  expect_error(predict(model, mtcars, se.fit = TRUE), "predict takes no argument 'se.fit'")
  meant(kfe_evaluate(model, mtcars, metrix = "rmse"), "metrics")
  meant(kfe_explain(model, mtcars, part = "loadings"), "parts")
  meant(kfe_methods("kox"), "koc")
  meant(kfe_options("fitt"), "fit")
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
