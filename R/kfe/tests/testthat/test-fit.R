# SPDX-License-Identifier: Apache-2.0
# Fits whose answers are known from R itself.

test_that("pca gives the components of prcomp", {
  model <- kfe(flowers, method = "pca", scale = "none")
  reference <- prcomp(flowers)
  expect_same_directions(kfe_transform(model, flowers), reference$x)
  weights <- coef(model)
  expect_same_directions(unclass(weights)[, ], reference$rotation)
  expect_identical(rownames(weights), colnames(flowers))
})

test_that("kpca gives the eigenvectors of the centred kernel matrix", {
  model <- kfe(flowers, method = "kpca", kernel = "rbf", gamma = 0.5, dim = 3, scale = "none")
  distances <- as.matrix(dist(flowers))
  centre <- diag(150) - 1 / 150
  found <- eigen(centre %*% exp(-0.5 * distances^2) %*% centre, symmetric = TRUE)
  expected <- found$vectors[, 1:3] %*% diag(sqrt(found$values[1:3]))
  expect_same_directions(kfe_transform(model, flowers), expected, 1e-6)
})

test_that("pls with all features is least squares", {
  frame <- iris[, 1:4]
  model <- kfe(Sepal.Length ~ ., frame, method = "pls", dim = 3, learner = "ls", scale = "none")
  expect_equal(predict(model, frame), unname(fitted(lm(Sepal.Length ~ ., frame))), tolerance = 1e-8)
  path <- predict(model, frame, type = "path")
  expect_identical(dim(path), c(150L, 3L))
  expect_equal(unname(path[, 3]), predict(model, frame), tolerance = 1e-8)
})

test_that("several targets are several columns", {
  y <- flowers[, 3:4]
  model <- kfe(flowers[, 1:2], y, method = "pls", dim = 2, learner = "ls", scale = "none")
  answers <- predict(model, flowers[, 1:2])
  expect_identical(colnames(answers), colnames(y))
  expect_equal(unname(answers), unname(fitted(lm(y ~ flowers[, 1:2]))), tolerance = 1e-8)
})

test_that("a formula and a matrix give the same model", {
  a <- kfe(Species ~ ., iris, method = "koc", kernel = "rbf:gamma=0.2", learner = "svm")
  b <- kfe(flowers, species, method = "koc", kernel = "rbf", gamma = 0.2, learner = "svm")
  expect_identical(kfe_transform(a, iris), kfe_transform(b, flowers))
  expect_identical(predict(a, iris), predict(b, flowers))
  named <- kfe(formula = Species ~ ., data = iris, method = "koc", kernel = kfe_kernel("rbf", gamma = 0.2))
  expect_identical(kfe_transform(named, iris), kfe_transform(a, iris))
  expect_gt(mean(predict(a, iris) == species), 0.9)
})

test_that("predictions have the levels of the target, in their order", {
  other <- factor(species, levels = c("virginica", "unused", "setosa", "versicolor"))
  model <- kfe(flowers, other, method = "koc", learner = "svm", calibration = "platt")
  answer <- predict(model, flowers)
  expect_identical(levels(answer), levels(other))
  expect_gt(mean(as.character(answer) == as.character(other)), 0.9)
  p <- predict(model, flowers, type = "prob")
  expect_identical(colnames(p), c("virginica", "setosa", "versicolor"))
  expect_equal(rowSums(p), rep(1, 150))
  expect_gt(mean(colnames(p)[max.col(p)] == as.character(other)), 0.9)
  scores <- predict(model, flowers, type = "scores")
  expect_gt(mean(colnames(scores)[max.col(scores)] == as.character(other)), 0.9)
})

test_that("all methods of the library's table can be fitted", {
  methods <- kfe_methods()
  set.seed(1)
  x <- matrix(rnorm(80), 20)
  y <- factor(rep(c("a", "b"), 10))
  x[y == "b", 1] <- x[y == "b", 1] + 3
  for (name in methods$name) {
    model <- suppressWarnings(kfe(x, y, method = name, learner = if (name == "none") "knn", seed = 1))
    expect_identical(dim(kfe_transform(model, x)), c(20L, model$dim), info = name)
  }
})

test_that("every parameter is accepted under its name in R", {
  for (name in c("koc", "kfd", "skpls")) {
    rows <- kfe_methods(name)
    model <- do.call(kfe, c(list(flowers, species, method = name), as.list(stats::setNames(rows$default, rows$name))))
    plain <- kfe(flowers, species, method = name)
    expect_equal(kfe_transform(model, flowers), kfe_transform(plain, flowers), info = name)
  }
  dotted <- kfe(flowers, species, method = "koc", clusters.per.class = 2, seed = 1)
  expect_identical(dotted$dim, 6L)
})

test_that("numbers are classes or values as the library decides", {
  expect_identical(kfe(flowers, as.integer(species), method = "kpls")$task, "classify")
  expect_warning(model <- kfe(flowers, as.numeric(species), method = "kpls"), "task = \"classify\"", class = "kfe_warning")
  expect_identical(model$task, "regress")
  expect_identical(kfe(flowers, as.numeric(species), method = "kpls", task = "classify")$classes, c("1", "2", "3"))
  expect_identical(kfe(flowers, as.numeric(species), method = "koc")$task, "classify")
  expect_identical(kfe(flowers, species == "setosa", method = "koc", learner = "knn")$classes, c("FALSE", "TRUE"))
})

test_that("summary, print and plot show the model", {
  model <- kfe(Species ~ ., iris, method = "koc", learner = "svm")
  expect_output(print(model), "Model of koc with rbf")
  expect_output(print(summary(model)), "150 support examples")
  expect_identical(as.list(model$call)[[1]], as.name("kfe"))
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  plot(model, iris)
  plot(kfe(flowers, method = "kpca"), type = "scree")
  plot(kfe(flowers, species, method = "kpls", dim = 1), flowers, species)
  grDevices::dev.off()
  expect_gt(file.size(file), 4000)
  expect_error(plot(model), "newdata is missing", class = "kfe_error")
  expect_error(plot(model, type = "scree"), "needs a model of pca or kpca", class = "kfe_error")
  expect_error(plot(model, iris, type = "rocks"), "no figure 'rocks'", class = "kfe_error")
})

test_that("every figure of a model is drawn from its description", {
  odd <- seq(1, nrow(iris), 2)
  model <- kfe(Species ~ ., iris[odd, ], method = "kfd", learner = "svm")
  line <- kfe(mpg ~ ., mtcars, method = "pls", learner = "ls")
  drawn <- function(...) {
    file <- tempfile(fileext = ".svg")
    grDevices::svg(file)
    on.exit(unlink(file))
    plot(...)
    grDevices::dev.off()
    file.size(file)
  }

  for (type in c("scores", "distributions", "confusion", "roc", "classes", "permutation", "influence"))
    expect_gt(drawn(model, iris[-odd, ], type = type, train = iris[odd, ]), 2000)
  for (type in c("scores", "predicted", "residuals", "loadings", "loading-weights", "rotations", "vip", "variance", "coefficients"))
    expect_gt(drawn(line, mtcars, type = type), 2000)

  figure <- jsonlite::fromJSON(kfe_figure(model, "confusion", test = iris, format = "json"), simplifyVector = FALSE)
  heat <- figure$series[[1]]
  expect_equal(sum(values_of(figure, heat, "z")), 150)
  expect_identical(words_of(figure, heat, "x"), levels(iris$Species))
  expect_identical(range_of(figure, list(), list(heat), "x"), c(-0.5, 2.5))
})

test_that("a row of weight 2 counts like two rows", {
  twice <- rep(c(1, 2, 1), 50)
  rows <- rep(seq_len(150), twice)
  weighted <- kfe(flowers, species, method = "koc", gamma = 0.3, weights = twice, scale = "none")
  repeated <- kfe(flowers[rows, ], species[rows], method = "koc", gamma = 0.3, scale = "none")
  expect_equal(kfe_transform(weighted, flowers), kfe_transform(repeated, flowers), tolerance = 1e-8)
  frame <- cbind(iris, twice = twice)
  formula <- kfe(Species ~ . - twice, frame, method = "koc", gamma = 0.3, weights = twice, scale = "none")
  expect_equal(kfe_transform(formula, frame), kfe_transform(weighted, flowers))
  expect_error(kfe(flowers, species, method = "koc", weights = 1:3), "there are 3 weights, but x has 150 rows")
  refusing <- kfe_methods()$name[!kfe_methods()$sample_weights]
  if (length(refusing) > 0)
    expect_error(kfe(flowers[1:100, ], droplevels(species[1:100]), method = refusing[1], weights = twice[1:100]), "weights", class = "kfe_error")
})

test_that("rows of weight 0 decide neither categories nor whether numbers are classes", {
  x <- data.frame(a = sin(1:30), color = rep(c("red", "blue", "lime"), 10))
  more <- rbind(x, data.frame(a = cos(1:25), color = "teal"))
  y <- rep(0:1, 15)
  alone <- kfe(x, y, method = "kfd", kernel = "rbf:gamma=auto")
  both <- kfe(more, c(y, 30:54), method = "kfd", kernel = "rbf:gamma=auto", weights = rep(1:0, c(30, 25)))
  expect_equal(kfe_transform(both, x), kfe_transform(alone, x), tolerance = 1e-10)
  either <- kfe(more, c(y, 30:54), method = "pls", dim = 1, learner = "ls", weights = rep(1:0, c(30, 25)))
  expect_identical(either$task, "classify")
})

test_that("coefficients on support examples are named by the rows of the data", {
  rows_of <- function(...) as.integer(rownames(coef(kfe(Species ~ ., ..., method = "kfd", kernel = "rbf"), type = "dual")))
  gaps <- replace(iris, 1, replace(iris[[1]], c(2, 7), NA))
  expect_equal(rows_of(iris), 1:150)
  expect_equal(rows_of(iris, weights = rep(0:1, 75)), seq(2, 150, 2))
  expect_equal(rows_of(gaps, missing = "drop"), setdiff(1:150, c(2, 7)))
  expect_equal(rows_of(gaps, na.action = na.omit), setdiff(1:150, c(2, 7)))
  expect_equal(rows_of(gaps, subset = Sepal.Width > 3, missing = "drop"), setdiff(which(iris$Sepal.Width > 3), c(2, 7)))
})

test_that("linear models reconstruct rows", {
  model <- kfe(flowers, method = "pca", dim = 4, scale = "none")
  rows <- kfe_inverse(model, kfe_transform(model, flowers))
  expect_equal(unname(rows), unname(flowers), tolerance = 1e-8)
  expect_error(coef(kfe(flowers, method = "kpca"), type = "linear"), "type = \"dual\"")
})

test_that("words of a file are printed escaped", {
  model <- kfe(Species ~ ., iris, method = "koc", learner = "knn")
  evil <- "x\u001b[2J\u202etxt"
  model$method <- model$learner <- evil
  model$kernels <- evil
  model$classes[2] <- evil
  shown <- paste(capture.output(print(model)), collapse = "\n")
  expect_false(grepl("\u001b|\u202e", shown))
  expect_equal(lengths(regmatches(shown, gregexpr("x\\x1b[2J", shown, fixed = TRUE))), 4)
  expect_error(stop_kfe(evil), "x\\x1b[2J\\xe2\\x80\\xaetxt", fixed = TRUE)
})

test_that("scale takes TRUE and FALSE", {
  for (scale in c(TRUE, FALSE))
    expect_equal(coef(kfe(mpg ~ ., mtcars, method = "pls", dim = 2, learner = "ls", scale = scale)),
                 coef(kfe(mpg ~ ., mtcars, method = "pls", dim = 2, learner = "ls", scale = if (scale) "standard" else "none")))
})

test_that("coefficients and errors of leave-one-out are those of pls", {
  skip_if_not_installed("pls")
  x <- as.matrix(mtcars[c("wt", "hp", "qsec", "drat")])
  y <- as.matrix(mtcars[c("mpg", "disp")])
  peer <- pls::plsr(y ~ x, ncomp = 2, scale = FALSE, validation = "LOO")
  model <- kfe(x, y, method = "pls", dim = 2, learner = "ls", scale = FALSE)
  expect_equal(unname(as.matrix(predict(model, x))), unname(drop(predict(peer, x, ncomp = 2))), tolerance = 1e-10)
  found <- kfe_cv(x, y, method = "pls", dim = 2, learner = "ls", scale = FALSE, folds = nrow(x))
  expect_equal(found$tables$targets$rmsecv, unname(sqrt(colMeans((peer$validation$pred[, , 2] - y)^2))), tolerance = 1e-10)
})

test_that("print says how the columns were scaled, and why", {
  uneven <- iris
  uneven$Petal.Width <- 1000 * uneven$Petal.Width
  expect_output(print(kfe(Species ~ ., uneven, method = "kfd")), "scaling: standard (auto: the ranges of the columns differ by a factor of", fixed = TRUE)
  expect_output(print(kfe(Species ~ ., iris, method = "kfd")), "scaling: none (auto: the ranges of the columns differ by a factor of 2.46, at most 10)", fixed = TRUE)
  expect_output(print(kfe(Species ~ ., iris, method = "kfd", scale = TRUE)), "scaling: standard\n", fixed = TRUE)
})

test_that("the choice of dim is a figure", {
  model <- kfe(mpg ~ ., mtcars, method = "pls", learner = "ls")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(model, type = "dim-choice"), model)
  expect_error(plot(kfe(mpg ~ ., mtcars, method = "pls", dim = 2), type = "dim-choice"), "chosen by cross-validation")
})

test_that("plsda is least squares on dummies, with probabilities by default", {
  frame <- iris[1:4]
  model <- kfe(Species ~ ., iris, method = "plsda", dim = 4, scale = "none")
  dummies <- outer(iris$Species, levels(iris$Species), "==") + 0
  fitted <- fitted(lm(dummies ~ ., frame))
  expect_equal(unname(predict(model, frame, type = "scores")), unname(fitted - 0.5), tolerance = 1e-8)
  expect_identical(as.character(predict(model, frame)), levels(iris$Species)[max.col(fitted)])
  shares <- predict(model, frame, type = "prob")
  expect_equal(unname(rowSums(shares)), rep(1, 150))
})

test_that("directions of splsda have numbers of columns of their own", {
  model <- kfe(Species ~ ., iris, method = "splsda", dim = 2, keep = c(3, 1))
  expect_identical(unname(unlist(summary(model)$records$keep)), c(3, 1))
  auto <- kfe(Species ~ ., iris, method = "splsda", dim = 2, keep = "auto")
  expect_identical(dim(predict(auto, iris, type = "prob")), c(150L, 3L))
})

test_that("features have the names that the field gives them", {
  expect_identical(colnames(kfe_transform(kfe(iris[1:4], method = "kpca", dim = 2), iris[1:4])), c("PC1", "PC2"))
  expect_identical(colnames(coef(kfe(mpg ~ ., mtcars, method = "pls", dim = 2))), c("LV1", "LV2"))
  found <- colnames(kfe_transform(kfe(mpg ~ ., mtcars, method = "opls", orthogonal = 1), mtcars))
  expect_identical(found, c("predictive1", "orthogonal1"))
  expect_identical(colnames(kfe_transform(kfe(Species ~ ., iris, method = "hsic", dim = 2), iris)), c("hsic1", "hsic2"))
})

test_that("block-splsda and mbpls take lists of tables, and numbers of columns by name", {
  views <- list(sepal = as.matrix(iris[, 1:2]), petal = as.matrix(iris[, 3:4]))
  model <- kfe(views, iris$Species, method = "block-splsda", dim = 2, keep = list(sepal = c(2, 1), petal = 1), design = matrix(c(0, 0.5, 0.5, 0), 2),
               scale = "none")
  expect_identical(unname(unlist(summary(model)$records$keep)), c(2, 1, 1, 1))
  expect_gt(mean(predict(model, views) == iris$Species), 0.8)
  expect_equal(dim(predict(model, views, type = "prob")), c(150L, 3L))
  expect_identical(plot(model, type = "score-correlations"), model)
  pls <- kfe(iris[, 2:4], iris$Sepal.Length, method = "mbpls", dim = 2, learner = "ls", scale = "none")
  one <- kfe(iris[, 2:4], iris$Sepal.Length, method = "pls", dim = 2, learner = "ls", scale = "none")
  expect_equal(as.numeric(predict(pls, iris[, 2:4])), as.numeric(predict(one, iris[, 2:4])), tolerance = 1e-9)
})
