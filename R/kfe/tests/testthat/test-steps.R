# Steps that prepare rows: models, grids and the table of steps.

spectra <- function() {
  set.seed(1)
  waves <- 900 + 2 * (0:29)
  amounts <- matrix(runif(90), 30)
  peaks <- rbind(exp(-((waves - 912) / 8)^2), exp(-((waves - 930) / 12)^2), exp(-((waves - 946) / 10)^2))
  x <- 0.2 + (amounts %*% peaks) * (1 + runif(30))
  colnames(x) <- paste(waves, "nm")
  list(x = x, y = amounts[, 1])
}

test_that("steps prepare rows as formulas say", {
  data <- spectra()
  model <- kfe(data$x, data$y, method = "pls", dim = 3, prepare = "snv")
  made <- t(apply(data$x, 1, function(row) (row - mean(row)) / sd(row)))
  plain <- kfe(made, data$y, method = "pls", dim = 3, scale = "none")
  expect_equal(unname(kfe_transform(model, data$x)), unname(kfe_transform(plain, made)), tolerance = 1e-8)
})

test_that("settings of steps and chains are axes of grids", {
  data <- spectra()
  found <- kfe_cv(data$x, data$y, method = "pls", learner = "ls", dim = 3, prepare = "snv,sg:derivative=1",
                  grid = list("prepare.sg.window" = c(5, 11)), folds = 3)
  expect_true(any(grepl("window", capture.output(print(found)))))
  short <- kfe_cv(data$x, data$y, method = "pls", learner = "ls", dim = 3, prepare = "snv,sg:derivative=1",
                  grid = list(sg.window = c(5, 11)), folds = 3)
  expect_equal(short$metrics, found$metrics)
  chains <- c("none", "snv", "msc,detrend")
  found <- kfe_cv(data$x, data$y, method = "pls", learner = "ls", dim = 2, grid = list(prepare = chains), folds = 3)
  expect_match(paste(capture.output(print(found)), collapse = " "), "prepare=(none|snv|msc,detrend)")
})

test_that("models keep their steps for new rows, in files and by view", {
  data <- spectra()
  new <- data$x[1:4, ] * 2 + 0.1 # scatter, which snv and msc take away
  for (steps in c("snv", "msc")) {
    model <- kfe(data$x[-(1:4), ], data$y[-(1:4)], method = "pls", learner = "ls", dim = 2, prepare = steps)
    expect_equal(predict(model, new), predict(model, data$x[1:4, ]), tolerance = 1e-6)
    file <- tempfile(fileext = ".kfe")
    kfe_save(model, file)
    expect_identical(predict(kfe_load(file), new), predict(model, new))
    expect_identical(predict(unserialize(serialize(model, NULL)), new), predict(model, new))
  }
  views <- function(x) list(low = x[, 1:15], high = x[, 16:30])
  both <- kfe(views(data$x), data$y, method = "kcca", dim = 2, kernel = "linear", scale = "none", prepare = "snv;high=none")
  made <- views(data$x)
  made$low <- t(apply(made$low, 1, function(row) (row - mean(row)) / sd(row)))
  plain <- kfe(made, data$y, method = "kcca", dim = 2, kernel = "linear", scale = "none")
  expect_equal(abs(unname(kfe_transform(both, views(new)))), abs(unname(kfe_transform(plain, {
    at <- views(new)
    at$low <- t(apply(at$low, 1, function(row) (row - mean(row)) / sd(row)))
    at
  }))), tolerance = 1e-6)
})

test_that("tune tries chains of steps", {
  data <- spectra()
  found <- kfe_tune(data$x, data$y, time = NULL, trials = 60, prepare = c("area", "snv,sg:order=1"), grid = list(sg.window = c(5, 9)),
                    assess = "held-out")
  expect_true(all(found$ranking$prepare %in% c("area", paste0("snv,sg:window=", c(5, 9), ",order=1"))))
  expect_error(kfe_tune(data$x, data$y, grid = list(gamma = 1)), "settings of steps")
})

test_that("steps choose columns by the target", {
  data <- spectra()
  model <- kfe(data$x, data$y, method = "pls", learner = "ls", dim = 2, prepare = "cars:runs=20,dim=4")
  found <- kfe_explain(model, parts = "chosen")$chosen
  kept <- rownames(found)[found[, "chosen"] == 1]
  expect_true(length(kept) > 1 && length(kept) < 30)
  plain <- kfe(data$x[, kept], data$y, method = "pls", learner = "ls", dim = 2, scale = "none")
  expect_equal(predict(model, data$x), predict(plain, data$x[, kept]), tolerance = 1e-8)
  expect_error(kfe(data$x, method = "pca", prepare = "cars"), "the data has none")
  found <- kfe_cv(data$x, data$y, method = "pls", learner = "ls", dim = 1,
                  grid = list(prepare = c("none", "stability")), folds = 3)
  expect_match(paste(capture.output(print(found)), collapse = " "), "prepare=(none|stability)")
})

test_that("wrong steps are refused, and steps are listed", {
  data <- spectra()
  expect_error(kfe(data$x, data$y, method = "pls", prepare = "snw"), "kfe_steps()", fixed = TRUE)
  expect_true(all(c("snv", "msc", "sg") %in% kfe_steps()$name))
  expect_true("window" %in% kfe_steps("sg")$name)
})
