# SPDX-License-Identifier: Apache-2.0

x <- as.matrix(mtcars[-1])
slave <- sweep(sweep(x, 2, 1 + seq_len(ncol(x)) / 10, "*"), 2, seq_len(ncol(x)), "+")

test_that("pds undoes gains and offsets of columns", {
  model <- kfe(x, mtcars$mpg, method = "pls", dim = 3, learner = "ls")
  both <- kfe_transfer(model, "pds:window=1,dim=1", slave[1:15, ], master = x[1:15, ])
  expect_equal(predict(both, slave), predict(model, x), tolerance = 1e-8)
  expect_equal(predict(unserialize(serialize(both, NULL)), slave), predict(both, slave))
  expect_output(print(summary(both)), "pds:window=1,dim=1")
})

test_that("epo is the projection of NumPy and R", {
  model <- kfe(x, mtcars$mpg, method = "pls", dim = 3, learner = "ls", scale = "none")
  v <- svd(slave[1:12, ] - x[1:12, ])$v[, 1:2]
  project <- diag(ncol(x)) - tcrossprod(v)
  colnames(project) <- colnames(x)
  both <- kfe_transfer(model, "epo:dim=2", slave[1:12, ], master = x[1:12, ], train = x, y_train = mtcars$mpg)
  direct <- kfe(x %*% project, mtcars$mpg, method = "pls", dim = 3, learner = "ls", scale = "none")
  expect_equal(predict(both, slave), predict(direct, slave %*% project), tolerance = 1e-7)
})

test_that("slope-bias leaves residuals without mean and slope", {
  model <- kfe(mpg ~ ., mtcars, method = "pls", dim = 2, learner = "ls")
  shifted <- mtcars
  shifted$wt <- 1.2 * mtcars$wt + 0.3
  weights <- rep(1:2, 16)
  corrected <- predict(kfe_transfer(model, "slope-bias", shifted, weights = weights), shifted)
  expect_equal(unname(coef(lm(shifted$mpg ~ corrected, weights = weights))), c(0, 1), tolerance = 1e-8)
})

test_that("what does not fit is refused", {
  model <- kfe(x, mtcars$mpg, method = "pls", dim = 2, learner = "ls")
  expect_error(kfe_transfer(model, "pds", slave[1:4, ], master = x[1:5, ]), "the master has 5 samples and the slave 4")
  expect_error(kfe_transfer(model, "pds", slave[1:4, ]), "master")
  expect_error(kfe_transfer(model, "pds"), "slave is missing")
  expect_error(kfe_transfer(model, "sds", slave, master = x), "none of them")
})
