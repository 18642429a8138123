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
  expect_identical(found$tables$splits$test_rows, rep(50L, 3))
  expect_error(kfe_cv(flowers, species, method = "koc", learner = "knn", groups = 1:3), "groups has 3 values")
})

test_that("methods are compared on the same splits", {
  found <- kfe_compare(flowers, species, list(list(method = "koc", learner = "knn"), list(method = "pca", learner = "knn", dim = 1)),
                       folds = 3, seed = 1)
  expect_output(print(found), "koc")
  specs <- list(list(method = "koc", learner = "knn"), list(method = "pca", learner = "knn", dim = 1))
  for (k in seq_along(specs)) {
    alone <- do.call(kfe_cv, c(list(flowers, species, folds = 3, seed = 1), specs[[k]]))
    accuracy <- with(found$tables$splits, found$tables$splits[methods == k, "metrics/accuracy"])
    expect_equal(accuracy, alone$splits$accuracy)
  }
  first <- !duplicated(found$tables$splits$methods)
  expect_length(unique(found$tables$splits[first, "metrics/accuracy"]), 2)
  expect_error(kfe_compare(flowers, species, list()), "at least two lists")
})

test_that("tuning returns a model", {
  found <- kfe_tune(Species ~ ., iris, time = NULL, trials = 4, seed = 1)
  honest <- found$honest$metrics$accuracy
  expect_gte(honest$standard_error, sqrt(honest$mean * (1 - honest$mean) / 150) - 1e-12)
  expect_false(any(grepl("NA", capture.output(print(found)))))
  expect_gt(mean(predict(found$model, iris) == species), 0.9)
  expect_s3_class(found$ranking, "data.frame")
  expect_output(print(found), "Best of")
  some <- as.numeric(species != "setosa")  # what weighs nothing is not there
  weighted <- kfe_tune(Species ~ ., iris, time = NULL, trials = 8, seed = 1, weights = some)
  expect_false("nearest neighbours" %in% weighted$ranking$candidate)
  expect_false("setosa" %in% as.character(predict(weighted$model, iris)))
  expect_error(kfe_tune(flowers, species, time = NULL, weights = 1:3), "there are 3 weights")
})

test_that("a search answers what its model is asked", {
  tuned <- kfe_tune(Species ~ ., iris, time = NULL, trials = 4, seed = 1)
  expect_identical(predict(tuned, iris), predict(tuned$model, iris))
  expect_identical(fitted(tuned), predict(tuned$model, iris))
  expect_identical(nobs(tuned), 150L)
  expect_identical(kfe_transform(tuned, iris), kfe_transform(tuned$model, iris))
  expect_identical(suppressWarnings(kfe_evaluate(tuned, iris))[["accuracy"]], mean(predict(tuned, iris) == species))
  found <- kfe_cv(mpg ~ ., mtcars, method = "pls", learner = "ls", grid = list(dim = 1:3), folds = 3)
  expect_identical(predict(found, mtcars), predict(found$model, mtcars))
  expect_identical(coef(found), coef(found$model))
  expect_equal(unname(residuals(found)), mtcars$mpg - unname(predict(found, mtcars)))
  expect_output(print(summary(found)), "kfe_cv\\(formula = mpg")
  expect_output(print(summary(tuned)), "nearest neighbours")
})

test_that("formulas are taken by comparisons and searches, with subset, weights and groups", {
  specs <- list(list(method = "koc", learner = "knn"), list(method = "pca", learner = "knn", dim = 1))
  frame <- cbind(iris, twice = rep(1:2, 75), part = rep(1:10, 15))
  found <- kfe_compare(Species ~ . - twice - part, frame, specs, folds = 3, seed = 1, subset = Petal.Width > 0.15, groups = part)
  rows <- iris$Petal.Width > 0.15
  plain <- kfe_compare(flowers[rows, ], species[rows], specs, folds = 3, seed = 1, groups = frame$part[rows])
  means <- function(x) group_of(x$tables$methods, "metrics")
  expect_identical(means(found), means(plain))
  expect_error(predict(found, iris), "did not fit a model")
  expect_error(kfe_compare(Species ~ ., iris), "at least two lists")
  grouped <- kfe_tune(Species ~ . - twice - part, frame, groups = part, time = NULL, trials = 4, seed = 1)
  expect_identical(grouped$honest, kfe_tune(flowers, species, groups = frame$part, time = NULL, trials = 4, seed = 1)$honest)
})

test_that("plots of searches show every estimate", {
  specs <- list(list(method = "koc", learner = "knn"), list(method = "pca", learner = "knn", dim = 1))
  compared <- kfe_compare(Species ~ ., iris, specs, folds = 3)
  found <- kfe_cv(Species ~ ., iris, method = "koc", learner = "knn", grid = list(gamma = c(0.1, 1)), folds = 3)
  plain <- kfe_cv(Species ~ ., iris, method = "koc", learner = "knn", folds = 3)
  tuned <- kfe_tune(Species ~ ., iris, time = NULL, trials = 4, seed = 1)
  expect_identical(estimates_of(compared)$label, c("koc", "pca:dim=1"))
  expect_equal(estimates_of(found)[c("label", "mean")], data.frame(label = c("gamma=0.1", "gamma=1"), mean = found$settings$accuracy))
  expect_equal(estimates_of(plain)$mean, plain$metrics$mean)
  expect_equal(estimates_of(tuned)$mean, tuned$ranking$mean)
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  for (result in list(compared, found, plain, tuned)) expect_invisible(plot(result))
  grDevices::dev.off()
  expect_gt(file.size(file), 4000)
})

test_that("searches without a target, and reports of what cannot be shown, say so", {
  expect_error(kfe_cv(flowers, method = "koc", learner = "knn"), "needs labels|give y", class = "kfe_error")
  expect_error(kfe_tune(flowers), "give y", class = "kfe_error")
  expect_error(kfe_tune(~ ., iris), "give y", class = "kfe_error")
  tuned <- kfe_tune(Species ~ ., iris, time = NULL, trials = 4, seed = 1)
  expect_error(kfe_report(tuned, tempfile()), "is shown by plot\\(\\)", class = "kfe_error")
  expect_match(suppressWarnings(kfe_figure(tuned, "confusion", test = iris)), "^<svg")
  expect_output(print(tuned), "Best of 4 candidates that were tried:\n.*, without a method\n")
  expect_identical(nrow(tried_of(tuned)), 4L)
  columns <- kfe(Species ~ ., iris, method = "none", learner = "knn")
  expect_output(print(columns), "^knn, without a method\n  4 columns\n")
  svm <- kfe(Species ~ ., iris, method = "none", kernel = "rbf", learner = "svm")
  expect_output(print(svm), "^svm with rbf:gamma=[0-9.]+, without a method\n  3 decision values from")
  expect_error(plot(kfe(flowers, species, method = "koc"), flowers, species, features = 5), "features takes numbers from 1 to 3")
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
  expect_identical(nrow(kfe_generate("waveform", n = 30)), 30L) # n is a parameter, not short for the first argument
})

test_that("errors of leave-one-out are those of its predictions", {
  held_out <- vapply(seq_len(nrow(mtcars)), function(i) predict(lm(mpg ~ wt + hp, mtcars[-i, ]), mtcars[i, ]), 0)
  residuals <- held_out - mtcars$mpg
  found <- kfe_cv(mpg ~ wt + hp, mtcars, method = "pls", learner = "ls", grid = list(dim = 1:2), folds = nrow(mtcars), scale = FALSE,
                  inner_folds = 0)
  last <- found$settings[found$settings$dim == 2, ]
  expect_equal(last$rmsecv, sqrt(mean(residuals^2)))
  expect_equal(last$q2, 1 - sum(residuals^2) / sum((mtcars$mpg - mean(mtcars$mpg))^2))
  expect_equal(last$bias, mean(residuals))
  expect_equal(last$sep, stats::sd(residuals))
  expect_equal(found$pooled[["rmsecv"]], min(found$settings$rmsecv))
  expect_equal(found$metrics$mean, found$pooled[["rmsecv"]])
})

test_that("held-out predictions are those of fits without the row", {
  found <- kfe_cv(mpg ~ wt + hp, mtcars, method = "pls", learner = "ls", dim = 2, folds = nrow(mtcars), scale = FALSE)
  expected <- vapply(found$held_out$row, function(k) unname(stats::predict(stats::lm(mpg ~ wt + hp, mtcars[-k, ]), mtcars[k, ])), 0)
  expect_equal(found$held_out$prediction, expected)
  expect_equal(found$held_out$truth, mtcars$mpg[found$held_out$row])
  drawn <- jsonlite::fromJSON(kfe_figure(found, "predicted", format = "json"), simplifyVector = FALSE)
  expect_match(drawn$caption, "leave it out")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(found, type = "predicted"), found)
  expect_match(kfe_figure(found, "residuals"), "<svg")
  expect_null(kfe_cv(mpg ~ wt + hp, mtcars, method = "pls", learner = "ls", dim = 2, held_out = "no")$held_out)
  classes <- kfe_cv(Species ~ ., iris, method = "koc", learner = "knn", folds = 5)
  expect_equal(mean(classes$held_out$truth == classes$held_out$prediction), classes$metrics$mean)
  expect_identical(plot(classes, type = "confusion"), classes)
})

test_that("a permutation test has a p-value and a figure", {
  found <- kfe_cv(Species ~ ., iris, method = "pca", dim = 1, learner = "knn", folds = 3, permutations = 9)
  permuted <- found$tables[["permutations/values"]]$value
  expect_equal(found$tables$facts[["permutations/p"]], (1 + sum(permuted >= found$metrics$mean)) / 10)
  drawn <- jsonlite::fromJSON(kfe_figure(found, "permutation-test", format = "json"), simplifyVector = FALSE)
  expect_match(drawn$caption, "in 9 permutations")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(found, type = "permutation-test"), found)
})

test_that("training rows can cover the space of the columns", {
  x <- as.matrix(mtcars[c("wt", "hp")])
  found <- kfe_cv(x, mtcars$mpg, method = "pls", dim = 1, learner = "ls", split = "kennard-stone", train_size = 10, held_out = TRUE)
  far <- as.matrix(dist(x))
  chosen <- as.vector(which(far == max(far), arr.ind = TRUE)[1, ])
  while (length(chosen) < 10) {
    near <- apply(far[, chosen], 1, min)
    near[chosen] <- -1
    chosen <- c(chosen, which.max(near))
  }
  expect_setequal(found$held_out$row, setdiff(seq_len(nrow(x)), chosen))
})

test_that("fewer features are chosen by rules", {
  best <- function(rule) {
    found <- kfe_cv(mpg ~ ., mtcars, method = "pls", learner = "ls", grid = list(dim = 1:6), folds = 8, inner_folds = 0, choose = rule)
    list(dim = as.integer(found$best[["dim"]]), rmsecv = found$settings$rmsecv)
  }
  least <- best("min")
  expect_equal(least$dim, which.min(least$rmsecv))
  falls <- least$rmsecv[-1] <= 0.95 * least$rmsecv[-6]
  expect_equal(best("q2")$dim, if (all(falls)) 6L else which(!falls)[1])
  for (rule in c("one-se", "permutation")) expect_lte(best(rule)$dim, least$dim)
})

test_that("rules choose automatic numbers of features", {
  dims <- vapply(c("min", "one-se", "permutation", "q2"), function(rule) {
    ncol(kfe_transform(kfe(mpg ~ ., mtcars, method = "pls", learner = "ls", choose = rule), mtcars))
  }, 0L)
  expect_true(all(dims >= 1 & dims <= dims[["min"]] | names(dims) == "q2"))
  expect_error(kfe(mpg ~ ., mtcars, method = "pls", choose = "best"), "one-se")
})
