# SPDX-License-Identifier: Apache-2.0
# Figures of spectra: columns named by positions are an axis.

wave <- seq(1200, 800, by = -20)
set.seed(5)
octane <- rnorm(40)
spectra <- outer(octane, exp(-((wave - 1000) / 40)^2)) + matrix(0.05 * rnorm(40 * length(wave)), 40)
spectra[8, 4] <- spectra[8, 4] + 5
colnames(spectra) <- paste(wave, "cm-1")
model <- kfe(spectra, octane, method = "pls", dim = 2, learner = "ls")

figure <- function(type, ...) figure_of(model, type, spectra, NULL, octane, NULL, list(...))

test_that("columns named by wavenumbers are lines from high to low", {
  for (type in c("vip", "coefficients", "loadings", "permutation", "contributions", "smc", "selectivity-ratio")) {
    drawn <- figure(type)
    series <- drawn$series[[1]]
    expect_identical(series$mark, "line")
    expect_equal(values_of(drawn, series, "x"), wave)
    expect_identical(drawn$panels[[1]]$x$title, "wavenumber (cm\u207b\u00b9)")
    expect_equal(range_of(drawn, drawn$panels[[1]], list(series), "x"), c(1200, 800))
  }
  drawn <- figure("vip")
  expect_equal(values_of(drawn, drawn$series[[1]], "y"), as.numeric(kfe_explain(model)$vip), tolerance = 1e-3)
})

test_that("the most distant row is explained, or the one that was asked for", {
  drawn <- figure("contributions")
  q <- values_of(drawn, drawn$series[[2]], "y")
  expect_equal(which.max(abs(q)), 4)
  expect_equal(sum(abs(q)), 1, tolerance = 1e-3)
  expect_match(drawn$caption, "row 8")
  expect_match(figure("contributions", row = 3)$caption, "row 3")
  expect_error(figure("contributions", row = 41), "no such row")
  outliers <- figure("outliers")
  expect_gt(length(outliers$series), 2)
  for (type in c("outliers", "contributions")) {
    file <- tempfile(fileext = ".svg")
    grDevices::svg(file)
    plot(model, spectra, octane, type = type, row = 3)
    grDevices::dev.off()
    expect_gt(file.size(file), 2000)
    unlink(file)
  }
})

test_that("a panel without series is its name", {
  file <- tempfile(fileext = ".svg")
  grDevices::svg(file)
  plot(model, spectra * 0 + 1, octane, type = "permutation")
  grDevices::dev.off()
  expect_identical(figure_of(model, "permutation", spectra * 0 + 1, NULL, octane, NULL, list())$panels[[1]]$title, "no column matters detectably")
  unlink(file)
})

test_that("score plots have names, shares of variance and an ellipse, spectra two panels", {
  drawn <- figure("scores")
  expect_match(drawn$panels[[1]]$x$title, "^LV 1 \\(.* %\\)$")
  ellipse <- ellipse_of(drawn$panels[[1]])
  scores <- kfe_transform(model, spectra)
  n <- nrow(scores)
  t2 <- stats::mahalanobis(cbind(ellipse$x, ellipse$y), colMeans(scores), stats::cov(scores))
  expect_equal(t2, rep(2 * (n^2 - 1) / (n * (n - 2)) * stats::qf(0.95, 2, n - 2), 73), tolerance = 1e-6)
  prepared <- kfe(spectra, octane, method = "pls", dim = 2, prepare = "snv")
  expect_length(figure_of(prepared, "spectra", spectra, NULL, octane, NULL, list())$panels, 2)
  for (type in c("scores", "spectra")) {
    file <- tempfile(fileext = ".svg")
    grDevices::svg(file)
    plot(prepared, spectra, octane, type = type)
    grDevices::dev.off()
    expect_gt(file.size(file), 2000)
    unlink(file)
  }
})
