# SPDX-License-Identifier: Apache-2.0

test_that("intervals of the jackknife+ are those of left-out linear models", {
  x <- as.matrix(mtcars[c("wt", "hp", "qsec")])
  model <- kfe(mpg ~ wt + hp + qsec, mtcars, method = "pls", dim = 3, learner = "ls", conformal = "jackknife")
  new <- data.frame(wt = c(2, 3, 5), hp = c(100, 150, 220), qsec = c(16, 18, 20))
  n <- nrow(mtcars)
  fits <- lapply(seq_len(n), function(i) lm(mpg ~ wt + hp + qsec, mtcars[-i, ]))
  wrong <- vapply(seq_len(n), function(i) abs(mtcars$mpg[i] - predict(fits[[i]], mtcars[i, ])), 0)
  said <- vapply(fits, predict, numeric(3), newdata = new)
  found <- predict(model, new, type = "interval", level = 0.8)
  expect_equal(colnames(found), c("fit", "lwr", "upr"))
  for (row in 1:3) {
    expect_equal(found[[row, "upr"]], sort(said[row, ] + wrong)[ceiling(0.8 * (n + 1))], tolerance = 1e-8)
    expect_equal(found[[row, "lwr"]], sort(said[row, ] - wrong)[floor(0.2 * (n + 1))], tolerance = 1e-8)
  }
  expect_equal(found[, "fit"], unname(predict(model, new)))
  expect_equal(predict(unserialize(serialize(model, NULL)), new, type = "interval", level = 0.8), found)
  expect_equal(dim(predict(model, new[0, ], type = "interval")), c(0L, 3L))
})

test_that("several targets have their own columns, and classes sets", {
  two <- kfe(as.matrix(mtcars[c("wt", "hp")]), as.matrix(mtcars[c("mpg", "qsec")]), method = "pls", dim = 2, learner = "ls", conformal = "split")
  found <- predict(two, as.matrix(mtcars[1:4, c("wt", "hp")]), type = "interval", level = 0.5)
  expect_equal(colnames(found), c("mpg.fit", "mpg.lwr", "mpg.upr", "qsec.fit", "qsec.lwr", "qsec.upr"))
  expect_equal(unname(found[, c(1, 4)]), unname(predict(two, as.matrix(mtcars[1:4, c("wt", "hp")]))))
  expect_true(all(found[, 2] < found[, 3]) && all(found[, 5] < found[, 6]))
  model <- kfe(Species ~ ., iris, method = "kfd", learner = "svm", conformal = "cross")
  sets <- predict(model, iris[c(1, 51, 101), ], type = "interval", level = 0.95)
  expect_equal(colnames(sets), levels(iris$Species))
  expect_true(all(diag(sets)))
  expect_error(predict(model, iris, type = "interval", level = 2), "between 0 and 1")
  expect_error(predict(kfe(Species ~ ., iris, method = "kfd", learner = "svm"), iris, type = "interval"), "conformal = \"cross\"")
})
