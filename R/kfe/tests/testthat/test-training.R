# SPDX-License-Identifier: Apache-2.0
# What R's generic functions say about the training data, against lm and the formulas.

frame <- iris[, 1:4]
model <- kfe(Sepal.Length ~ ., frame, method = "pls", dim = 3, learner = "ls", scale = "none")
reference <- lm(Sepal.Length ~ ., frame)

test_that("a regression has the fitted values and residuals of least squares", {
  expect_equal(unname(fitted(model)), unname(fitted(reference)), tolerance = 1e-8)
  expect_equal(unname(residuals(model)), unname(residuals(reference)), tolerance = 1e-6)
  expect_equal(unname(resid(model)), unname(residuals(reference)), tolerance = 1e-6)
  expect_identical(nobs(model), nobs(reference))
  expect_equal(formula(model), formula(reference), ignore_attr = TRUE)
  expect_identical(attr(terms(model), "term.labels"), names(frame)[2:4])
  expect_equal(model.frame(model), model.frame(reference), ignore_attr = TRUE)
  expect_null(weights(model))
  expect_identical(fitted(model, type = "features"), kfe_transform(model, frame))
  by_matrix <- kfe(flowers[, 1:2], flowers[, 3:4], method = "pls", dim = 2, learner = "ls", scale = "none")
  several <- lm(flowers[, 3:4] ~ flowers[, 1:2])
  expect_equal(unname(residuals(by_matrix)), unname(residuals(several)), tolerance = 1e-6)
  expect_error(formula(by_matrix), "without a formula")
})

test_that("subset, weights and na.action are those of lm", {
  wide <- airquality$Wind > 8
  loose <- function(action) kfe(Ozone ~ Solar.R + Temp, airquality, method = "pls", dim = 2, learner = "ls", scale = "none", task = "regress",
                                subset = Wind > 8, weights = Day, na.action = action)
  strict <- function(action) lm(Ozone ~ Solar.R + Temp, airquality, subset = Wind > 8, weights = Day, na.action = action)
  for (action in list(na.omit, na.exclude)) {
    expect_equal(unname(fitted(loose(action))), unname(fitted(strict(action))), tolerance = 1e-6)
    expect_equal(unname(residuals(loose(action))), unname(residuals(strict(action))), tolerance = 1e-6)
    expect_equal(unname(weights(loose(action))), unname(weights(strict(action))))
    expect_identical(nobs(loose(action)), nobs(strict(action)))
  }
  expect_length(fitted(loose("na.exclude")), sum(wide))
  expect_error(loose(na.fail), "missing values")
  dropped <- kfe(Ozone ~ Solar.R + Temp, airquality, method = "pls", learner = "ls", task = "regress", missing = "drop")
  expect_identical(length(fitted(dropped)), nobs(dropped))
  by_name <- kfe(mpg ~ hp, mtcars, method = "pls", learner = "ls", subset = c("Fiat 128", "Valiant", "Merc 230", "Duster 360"))
  expect_identical(names(fitted(by_name)), c("Fiat 128", "Valiant", "Merc 230", "Duster 360"))
  expect_error(kfe(mpg ~ hp, mtcars, method = "pls", subset = "Fiat"), "rows that the data does not have")
  expect_error(kfe(mpg ~ hp, mtcars, method = "pls", subset = TRUE), "subset has 1 value, but the data has 32 rows")
})

test_that("classes have fitted classes, and residuals of probabilities", {
  plain <- kfe(Species ~ ., iris, method = "koc", learner = "svm")
  expect_identical(fitted(plain), predict(plain, iris))
  expect_error(residuals(plain), "calibration = \"platt\"", class = "kfe_error")
  calibrated <- kfe(Species ~ ., iris, method = "koc", learner = "svm", calibration = "platt")
  p <- predict(calibrated, iris, type = "prob")
  expect_equal(residuals(calibrated), unname(model.matrix(~ 0 + Species, iris)) - p, ignore_attr = TRUE)
  features <- kfe(flowers, species, method = "koc")
  expect_identical(fitted(features), kfe_transform(features, flowers))
  expect_error(residuals(features), "features only")
})

test_that("update fits again", {
  smaller <- update(model, . ~ . - Petal.Width, dim = 1)
  direct <- kfe(Sepal.Length ~ Sepal.Width + Petal.Length, frame, method = "pls", dim = 1, learner = "ls", scale = "none")
  expect_identical(predict(smaller, frame), predict(direct, frame))
  expect_identical(update(kfe(flowers, species, method = "koc"), dim = 1)$dim, 1L)
})

test_that("training data that is gone is named", {
  local <- function() {
    own <- frame
    kfe(Sepal.Length ~ ., own, method = "pls", learner = "ls")
  }
  expect_error(fitted(local()), "keeps no training data, and data of its call is not found")
  moving <- frame
  changed <- kfe(Sepal.Length ~ ., moving, method = "pls", learner = "ls")
  moving <- moving[1:10, ]
  expect_error(fitted(changed), "has 10 rows now, but the model was fitted on 150")
  file <- tempfile(fileext = ".kfe")
  kfe_save(model, file)
  expect_error(residuals(kfe_load(file)), "of a file does not know its training data")
  expect_identical(nobs(kfe_load(file)), NA_integer_)
})
