# SPDX-License-Identifier: Apache-2.0
# Cross-validation, comparison, tuning, evaluation and explanations.

test_that("cross-validation reports splits and fits the best setting", {
  found <- kfe_cv(Species ~ ., iris, method = "koc", learner = "svm", grid = list(gamma = c(0.01, 1)), folds = 3, seed = 1)
  expect_identical(nrow(found$splits), 3L)
  expect_equal(found$metrics$mean, mean(found$splits$accuracy))
  expect_identical(found$best[["gamma"]], found$settings$gamma[which.max(found$settings$accuracy)])
  expect_identical(found$model$kernels, paste0("rbf:gamma=", found$best[["gamma"]]))
  expect_gt(mean(predict(found$model, iris) == species), 0.9)
  expect_output(print(found), "accuracy")
  again <- kfe_cv(flowers, species, method = "koc", learner = "svm", grid = "gamma=0.01,1", folds = 3, seed = 1)
  expect_identical(again$splits, found$splits)
  expect_error(kfe_cv(flowers, species, method = "koc", learner = "svm", grid = list(gama = 1)), "gamma", class = "kfe_error")
  expect_error(kfe_cv(flowers, species, method = "koc"), class = "kfe_error")
})

test_that("groups stay together", {
  groups <- rep(1:3, 50)
  found <- kfe_cv(flowers, species, method = "koc", learner = "knn", folds = 3, groups = groups)
  expect_identical(vapply(found$json$splits, function(s) s$test_rows, 0L), rep(50L, 3))
  expect_error(kfe_cv(flowers, species, method = "koc", learner = "knn", groups = 1:3), "groups has 3 values")
})

test_that("methods are compared on the same splits", {
  found <- kfe_compare(flowers, species, list(list(method = "koc", learner = "knn"), list(method = "pca", learner = "knn", dim = 1)),
                       folds = 3, seed = 1)
  expect_output(print(found), "koc")
  specs <- list(list(method = "koc", learner = "knn"), list(method = "pca", learner = "knn", dim = 1))
  for (k in seq_along(specs)) {
    alone <- do.call(kfe_cv, c(list(flowers, species, folds = 3, seed = 1), specs[[k]]))
    accuracy <- vapply(found$json$methods[[k]]$splits, function(split) split$metrics$accuracy, 0)
    expect_equal(accuracy, alone$splits$accuracy)
  }
  expect_false(isTRUE(all.equal(found$json$methods[[1]]$splits[[1]]$metrics, found$json$methods[[2]]$splits[[1]]$metrics)))
  expect_error(kfe_compare(flowers, species, list()), "at least two lists")
})

test_that("tuning returns a model", {
  found <- kfe_tune(Species ~ ., iris, time = NULL, trials = 4, seed = 1)
  expect_gt(mean(predict(found$model, iris) == species), 0.9)
  expect_s3_class(found$ranking, "data.frame")
  expect_output(print(found), "Best of")
  some <- as.numeric(species != "setosa")  # what weighs nothing is not there
  weighted <- kfe_tune(Species ~ ., iris, time = NULL, trials = 8, seed = 1, weights = some)
  expect_false("nearest neighbours" %in% weighted$ranking$candidate)
  expect_false("setosa" %in% as.character(predict(weighted$model, iris)))
  expect_error(kfe_tune(flowers, species, time = NULL, weights = 1:3), "there are 3 weights")
})

test_that("evaluation is the metric of the predictions", {
  odd <- seq(1, 149, 2)
  model <- kfe(Species ~ ., iris[odd, ], method = "koc", learner = "svm")
  found <- kfe_evaluate(model, iris[-odd, ])
  expect_equal(found[["accuracy"]], mean(predict(model, iris[-odd, ]) == species[-odd]))
  expect_equal(kfe_evaluate(model, flowers[-odd, ], species[-odd])[["accuracy"]], found[["accuracy"]])
  weights <- rep(c(1, 3, 0), 25)
  right <- predict(model, iris[-odd, ]) == species[-odd]
  expect_equal(kfe_evaluate(model, iris[-odd, ], weights = weights)[["accuracy"]], sum(weights * right) / sum(weights))
  expect_error(kfe_evaluate(model, flowers), "y is missing")
})

test_that("explanations are named tables", {
  model <- kfe(Sepal.Length ~ Sepal.Width + Petal.Length, iris, method = "pls", dim = 2, learner = "ls", scale = "none")
  tables <- kfe_explain(model)
  weights <- tables[["coefficients"]]
  expect_equal(unname(weights[c("Sepal.Width", "Petal.Length"), 1]),
               unname(coef(lm(Sepal.Length ~ Sepal.Width + Petal.Length, iris))[-1]), tolerance = 1e-8)
  expect_output(print(tables), "Petal.Length")
})

test_that("views are dropped by fits without them", {
  odd <- seq(1, 149, 2)
  views <- function(rows, names) list(sepal = flowers[rows, 1:2], petal = flowers[rows, 3:4])[names]
  fit <- function(names) kfe(views(odd, names), species[odd], method = "kfd", kernel = "rbf", learner = "svm", seed = 1)
  right <- function(names) kfe_evaluate(fit(names), views(-odd, names), species[-odd])[["accuracy"]]
  both <- c("sepal", "petal")
  table <- kfe_explain(fit(both), views(-odd, both), species[-odd], parts = "views", train = views(odd, both),
                       y_train = species[odd])[["views"]]
  expect_equal(table["petal", "drop"], right(both) - right("sepal"), tolerance = 1e-12)
  expect_equal(table["sepal", "drop"], right(both) - right("petal"), tolerance = 1e-12)
})

test_that("generated data repeats with its seed", {
  expect_identical(kfe_generate("slabs", seed = 3), kfe_generate("slabs", seed = 3))
  expect_s3_class(kfe_generate("slabs")$label, "factor")
})
