# SPDX-License-Identifier: Apache-2.0
# Models survive saveRDS, files of the library, and the end of their first handle.

model <- kfe(Species ~ ., iris, method = "koc", learner = "svm", calibration = "platt")

test_that("saveRDS and readRDS keep the model", {
  file <- tempfile(fileext = ".rds")
  saveRDS(model, file)
  again <- readRDS(file)
  expect_identical(predict(again, iris), predict(model, iris))
  expect_identical(predict(again, iris, type = "prob"), predict(model, iris, type = "prob"))
  expect_identical(summary(again)$text, summary(model)$text)
})

test_that("the library's own file keeps the model", {
  file <- tempfile(fileext = ".kfe")
  kfe_save(model, file)
  again <- kfe_load(file)
  expect_identical(kfe_transform(again, flowers), kfe_transform(model, iris))
  expect_identical(predict(again, flowers[, 4:1]), predict(model, iris))
  expect_error(kfe_load(tempfile()), "cannot open", class = "kfe_error_io")
  writeLines("no model", file)
  expect_error(kfe_load(file), class = "kfe_error_model")
})

test_that("categories and fills are in the file", {
  frame <- data.frame(size = iris$Petal.Length, colour = rep(c("red", "green", "blue=x"), 50), width = iris$Petal.Width)
  frame$width[5] <- NA
  fitted <- kfe(frame, species, method = "koc", missing = "median", learner = "knn")
  file <- tempfile(fileext = ".kfe")
  kfe_save(fitted, file)
  again <- kfe_load(file)
  expect_identical(again$schemas[[1]]$names, names(frame))
  expect_identical(kfe_transform(again, frame[, 3:1]), kfe_transform(fitted, frame))
})

test_that("models survive the end of the namespace", {
  file <- tempfile(fileext = ".R")
  writeLines(c("m <- kfe::kfe(iris[, 1:4], method = 'pca')", "unloadNamespace('kfe')", "rm(m)", "invisible(gc())", "cat('alive')"), file)
  expect_identical(system2(file.path(R.home("bin"), "Rscript"), file, stdout = TRUE), "alive")
})

test_that("a model is freed only once", {
  other <- model
  copy <- unserialize(serialize(model, NULL))
  rm(other)
  gc()
  expect_identical(predict(copy, iris), predict(model, iris))
  rm(copy)
  gc()
  expect_identical(length(predict(model, iris)), 150L)
})
