# SPDX-License-Identifier: Apache-2.0
# kfe_caret in caret's train.

test_that("train tunes and predicts", {
  skip_if_not_installed("caret")
  set.seed(1)
  control <- caret::trainControl("cv", number = 3)
  fitted <- caret::train(Species ~ ., data = iris, method = kfe_caret("koc", "svm", tune = list(gamma = c(0.3, 1000))), trControl = control)
  expect_identical(fitted$bestTune$gamma, 0.3)
  expect_gt(mean(predict(fitted, iris) == species), 0.9)
  expect_identical(predict(fitted, iris), predict(kfe(flowers, species, method = "koc", gamma = 0.3, learner = "svm"), flowers))
})

test_that("a trained model has probabilities without classProbs", {
  skip_if_not_installed("caret")
  set.seed(1)
  control <- caret::trainControl("cv", number = 3)
  fitted <- caret::train(Species ~ ., data = iris, method = kfe_caret("koc", "svm"), tuneLength = 2, trControl = control)
  p <- predict(fitted, iris, type = "prob")
  expect_identical(names(p), levels(species))
  expect_equal(rowSums(p), rep(1, 150), ignore_attr = TRUE)
  expect_gt(mean(names(p)[max.col(p)] == species), 0.9)
  few <- iris[c(1:3, 51:53, 101), ]
  expect_s3_class(caret::train(Species ~ ., data = few, method = kfe_caret("koc", "svm"), trControl = caret::trainControl("none"),
                               tuneGrid = data.frame(dim = 1)), "train")
})

test_that("train gets probabilities and numbers", {
  skip_if_not_installed("caret")
  set.seed(1)
  control <- caret::trainControl("cv", number = 3, classProbs = TRUE)
  fitted <- caret::train(flowers, species, method = kfe_caret("kfd", "svm"), tuneLength = 2, trControl = control)
  expect_identical(sort(fitted$results$dim), c(1, 2))
  p <- predict(fitted, flowers, type = "prob")
  expect_equal(rowSums(p), rep(1, 150), ignore_attr = TRUE)
  expect_identical(names(p), levels(species))
  number <- caret::train(flowers[, 1:3], flowers[, 4], method = kfe_caret("pls", "ls"), tuneLength = 3,
                         trControl = caret::trainControl("cv", number = 3))
  expect_gt(max(number$results$Rsquared), 0.9)
  expect_error(kfe_caret("koc"), "name a learner")
})
