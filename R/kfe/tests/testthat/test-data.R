# SPDX-License-Identifier: Apache-2.0
# The same examples as matrices, data frames, sparse matrices, views and strings.

fit <- function(x, ...) kfe(x, species, method = "koc", kernel = "rbf:gamma=0.3", scale = "none", ...)

test_that("matrix, data frame, integers and sparse matrix give the same features", {
  whole <- round(10 * flowers)
  z <- kfe_transform(fit(whole), whole)
  integers <- whole
  storage.mode(integers) <- "integer"
  expect_identical(kfe_transform(fit(integers), integers), z)
  expect_identical(unname(kfe_transform(fit(as.data.frame(whole)), as.data.frame(whole))), unname(z))
  skip_if_not_installed("Matrix")
  sparse <- methods::as(whole, "CsparseMatrix")
  expect_equal(kfe_transform(fit(sparse), sparse), z, tolerance = 1e-10)
})

test_that("sparse matrices of all kinds are read by their entries", {
  skip_if_not_installed("Matrix")
  set.seed(2)
  x <- Matrix::rsparsematrix(60, 30, 0.1)
  dense <- as.matrix(x)
  reference <- tcrossprod(dense)
  kinds <- list(x, methods::as(x, "RsparseMatrix"), methods::as(x, "TsparseMatrix"))
  for (kind in kinds)
    expect_equal(unname(kfe_kernel_matrix(kind, kernel = "linear")), unname(reference), info = class(kind))
  logical <- x != 0
  expect_equal(unname(kfe_kernel_matrix(logical, kernel = "linear")), unname(tcrossprod(0 + as.matrix(logical))))
  symmetric <- Matrix::crossprod(x)
  expect_equal(unname(kfe_kernel_matrix(symmetric, kernel = "linear")), unname(tcrossprod(as.matrix(symmetric))))
})

test_that("factors are columns of zeros and ones", {
  frame <- data.frame(size = iris$Petal.Length, colour = factor(rep(c("red", "green", "blue"), 50)), flag = iris$Sepal.Width > 3)
  ones <- cbind(frame$size, 1 * outer(as.character(frame$colour), c("blue", "green", "red"), "=="), frame$flag)
  expect_identical(unname(kfe_transform(fit(frame), frame)), unname(kfe_transform(fit(ones), ones)))
  frame$colour <- as.character(frame$colour)
  expect_identical(unname(kfe_transform(fit(frame), frame)), unname(kfe_transform(fit(ones), ones)))
})

test_that("ordered factors are the numbers of their levels", {
  size <- factor(rep(c("small", "large", "middle"), 50), levels = c("small", "middle", "large", "huge"), ordered = TRUE)
  frame <- data.frame(length = iris$Petal.Length, size = size)
  numbers <- cbind(length = frame$length, size = c(1, 3, 2))
  model <- fit(frame)
  expect_identical(kfe_transform(model, frame), kfe_transform(fit(numbers), numbers))
  expect_output(print(model), "ordered size: small < middle < large < huge as 1 to 4", fixed = TRUE)
  expect_output(print(summary(model)), "ordered     size: small < middle", fixed = TRUE)
  texts <- data.frame(size = c("huge", "small"), length = 1:2)
  expect_identical(kfe_transform(model, texts), kfe_transform(fit(numbers), cbind(length = 1:2, size = c(4, 1))))
  turned <- transform(frame, size = factor(as.character(size), levels = rev(levels(size)), ordered = TRUE))
  expect_identical(kfe_transform(model, turned), kfe_transform(model, frame))
  expect_error(kfe_transform(model, data.frame(length = 1, size = "tiny")), "holds \"tiny\" in row 1, which is not among the ordered levels",
               class = "kfe_error_input")
  expect_error(kfe_transform(model, data.frame(length = 1, size = 2)), "it was an ordered factor when the model was fitted")
  twins <- fit(data.frame(a = size, b = size, x = iris$Petal.Length))
  expect_output(print(twins), "ordered a and b: small < middle", fixed = TRUE)
  again <- unserialize(serialize(model, NULL))
  expect_identical(kfe_transform(again, frame), kfe_transform(model, frame))
  by_formula <- kfe(species ~ length + size, frame, method = "koc", kernel = "rbf:gamma=0.3", scale = "none")
  expect_identical(kfe_transform(by_formula, frame), kfe_transform(model, frame))
  file <- tempfile(fileext = ".kfe")
  kfe_save(model, file)
  expect_error(kfe_transform(kfe_load(file), frame), "as.integer() gives the numbers", fixed = TRUE)
  expect_identical(unname(kfe_transform(kfe_load(file), numbers)), unname(kfe_transform(model, frame)))
  gap <- frame
  gap$size[2] <- NA
  expect_error(fit(gap), "column \"size\" of x has a missing value in row 2")
})

test_that("an ordered target gives ordered predictions", {
  model <- kfe(flowers, ordered(species), method = "koc", learner = "knn")
  expect_identical(levels(predict(model, flowers)), levels(species))
  expect_true(is.ordered(predict(model, flowers)))
  expect_true(is.ordered(predict(model, flowers[0, ])))
})

test_that("a model keeps what its formula takes from a function, and no more", {
  fit_inside <- function() {
    degree <- 2
    large <- rnorm(1e5)
    double <- function(x) 2 * x
    kfe(Species ~ poly(Petal.Width, degree) + double(Sepal.Length), iris, method = "koc")
  }
  model <- fit_inside()
  expect_identical(dim(kfe_transform(model, iris[1:3, ])), c(3L, 3L))
  expect_setequal(ls(environment(model$terms)), c("degree", "double"))
  plain <- function() {
    large <- rnorm(1e5)
    kfe(Species ~ ., iris, method = "koc")
  }
  expect_lt(length(serialize(plain(), NULL)), 1e5)
})

test_that("names of columns may be any text", {
  odd <- stats::setNames(iris, c("Sepal length", "1", "a:b", "~x", "Species name"))
  model <- kfe(`Species name` ~ ., odd, method = "koc", gamma = 0.3)
  plain <- kfe(Species ~ ., iris, method = "koc", gamma = 0.3)
  expect_identical(kfe_transform(model, odd), kfe_transform(plain, iris))
  expect_identical(model$schemas[[1]]$names, names(odd)[1:4])
  crossed <- kfe(`Species name` ~ `Sepal length` * `a:b`, odd, method = "koc")
  expect_identical(dim(kfe_transform(crossed, odd[1:2, ])), c(2L, 3L))
})

test_that("new data must have the columns of the formula", {
  shade <- iris$Petal.Width  # not to be found in place of a column
  frame <- cbind(iris, shade = shade)
  degree <- 2
  model <- kfe(Species ~ shade + poly(Sepal.Length, degree), frame, method = "koc")
  assign("shade", shade, globalenv())
  on.exit(rm("shade", envir = globalenv()))
  assign("degree", degree, globalenv())
  expect_error(kfe_transform(model, iris), "newdata lacks the column shade")
  expect_identical(dim(kfe_transform(model, frame)), c(150L, 3L))
  rm("degree", envir = globalenv())
  expect_error(kfe(mpg ~ hp + offset(wt), mtcars, method = "pls"), "offset")
})

test_that("new columns are matched by name", {
  frame <- data.frame(iris[, 1:4], colour = factor(rep(c("red", "green", "blue"), 50)))
  model <- fit(frame)
  z <- kfe_transform(model, frame)
  other <- cbind(extra = 1, frame[, rev(names(frame))])
  expect_identical(kfe_transform(model, other), z)
  expect_identical(kfe_transform(fit(flowers), flowers[, 4:1]), kfe_transform(fit(flowers), flowers))
  expect_error(kfe_transform(model, frame[, -c(2, 5)]), "newdata lacks the columns Sepal.Width and colour", class = "kfe_error_input")
  expect_error(kfe_transform(fit(unname(flowers)), flowers[, 1:3]), "has 3 columns, but the model was fitted on 4")
})

test_that("unseen levels are zeros, with a warning", {
  frame <- data.frame(size = iris$Petal.Length, colour = factor(rep(c("red", "green", "blue"), 50)))
  model <- fit(frame)
  new <- data.frame(size = 1.5, colour = "pink")
  expect_warning(z <- kfe_transform(model, new), "'pink'", class = "kfe_warning")
  ones <- cbind(frame$size, 1 * outer(as.character(frame$colour), c("blue", "green", "red"), "=="))
  expect_equal(unname(z), unname(kfe_transform(fit(ones), cbind(1.5, 0, 0, 0))))
})

test_that("missing values are refused, filled or dropped", {
  frame <- iris
  frame$Sepal.Width[c(3, 60)] <- NA
  expect_error(kfe(Species ~ ., frame, method = "koc"), "column \"Sepal.Width\" of x has a missing value in row 3")
  filled <- frame
  filled$Sepal.Width[c(3, 60)] <- mean(frame$Sepal.Width, na.rm = TRUE)
  model <- kfe(Species ~ ., frame, method = "koc", missing = "mean", gamma = 0.3)
  plain <- kfe(Species ~ ., filled, method = "koc", gamma = 0.3)
  expect_equal(kfe_transform(model, frame), kfe_transform(plain, filled), tolerance = 1e-10)
  dropped <- kfe(Species ~ ., frame, method = "koc", missing = "drop", gamma = 0.3)
  expect_identical(dropped$dropped, 2L)
  left <- kfe(Species ~ ., frame[-c(3, 60), ], method = "koc", gamma = 0.3)
  expect_identical(kfe_transform(dropped, iris), kfe_transform(left, iris))
  expect_error(kfe_transform(plain, frame), "column \"Sepal.Width\" of newdata has a missing value in row 3")
  frame$Species[7] <- NA
  expect_error(kfe(Species ~ ., frame, method = "koc", missing = "mean"), "y has a missing value in row 7")
  expect_identical(kfe(Species ~ ., frame, method = "koc", missing = "drop")$dropped, 3L)
})

test_that("nipals regresses on the values that are there", {
  x <- as.matrix(iris[1:4])
  x[cbind(c(3, 40, 90), c(2, 4, 1))] <- NA
  model <- kfe(x, method = "pca", dim = 2, missing = "nipals", scale = "none")
  rest <- sweep(x, 2, colMeans(x, na.rm = TRUE))
  seen <- !is.na(rest)
  rest[!seen] <- 0
  p <- svd(rest)$v[, 1]
  for (step in 1:500) {
    t <- rest %*% p / (seen %*% p^2)
    p <- drop(crossprod(rest, t) / crossprod(seen, t^2))
    p <- p / sqrt(sum(p^2))
  }
  expect_equal(abs(kfe_transform(model, x)[, 1]), abs(drop(t)), tolerance = 1e-9, ignore_attr = TRUE)
  expect_error(kfe(x, iris$Species, method = "kfd", missing = "nipals"), "is for pca, pls, plsda and opls")
})

test_that("missing categories are the most frequent one if asked for", {
  frame <- data.frame(size = iris$Petal.Length, colour = rep(c("red", "red", "blue"), 50))
  gap <- frame
  gap$colour[3] <- NA
  expect_error(fit(gap), "column \"colour\" of x has a missing value in row 3")
  full <- gap
  full$colour[3] <- "red"
  expect_equal(kfe_transform(fit(gap, missing = "most_frequent"), gap), kfe_transform(fit(full), full))
})

test_that("views are matched by name, and may be columns of one table", {
  views <- list(sepal = flowers[, 1:2], petal = flowers[, 3:4])
  kernels <- list(sepal = "linear", petal = "rbf:gamma=2")
  model <- kfe(views, species, method = "koc", kernel = kernels, scale = "none")
  k <- tcrossprod(flowers[, 1:2]) + kfe_kernel_matrix(flowers[, 3:4], kernel = "rbf", gamma = 2)
  given <- kfe(k, species, method = "koc", kernel = "precomputed", scale = "none")
  expect_equal(kfe_transform(model, views), kfe_transform(given, k), tolerance = 1e-8)
  expect_identical(kfe_transform(model, views[2:1]), kfe_transform(model, views))
  divided <- kfe(flowers, species, method = "koc", kernel = kernels, views = list(sepal = 1:2, petal = c("Petal.Length", "Petal.Width")),
                 scale = "none")
  expect_equal(kfe_transform(divided, flowers), kfe_transform(model, views))
  expect_error(kfe_transform(model, views[1]), "lacks the view petal")
  expect_error(kfe_transform(model, flowers), "one table, but the model was fitted on 2 views")
  expect_error(kfe(list(a = flowers, b = flowers[1:3, ]), species, method = "koc"), "a has 150 and b has 3")
  expect_error(kfe(flowers, species, method = "koc", views = list(a = "petals")), "columns that x does not have: petals")
})

test_that("strings need a kernel on strings", {
  texts <- c("abcabc", "abcab", "xyzxyz", "xyzzy")
  model <- kfe(texts, c("a", "a", "x", "x"), method = "koc", kernel = "spectrum", length = 2, learner = "knn", neighbors = 1)
  expect_identical(as.character(predict(model, c("abab", "zyxyz"))), c("a", "x"))
  expect_error(kfe(texts, 1:4, method = "koc"), "kernel = \"spectrum\"")
})

test_that("a kernel matrix is the formula's", {
  x <- flowers[1:7, ]
  expect_equal(unname(kfe_kernel_matrix(x, flowers[8:10, ], kernel = "rbf", gamma = 0.1)),
               unname(exp(-0.1 * as.matrix(dist(flowers[1:10, ]))[1:7, 8:10]^2)))
})

test_that("formulas may transform columns and have interactions", {
  model <- kfe(Species ~ log(Sepal.Length) + poly(Petal.Width, 2), iris, method = "koc", gamma = 1)
  expect_identical(dim(kfe_transform(model, iris[1:5, ])), c(5L, 3L))
  expect_equal(kfe_transform(model, iris)[1:5, ], kfe_transform(model, iris[1:5, ]))
  crossed <- kfe(Species ~ Sepal.Width * Petal.Width, iris, method = "pca", scale = "none")
  columns <- with(iris, cbind(Sepal.Width, Petal.Width, Sepal.Width * Petal.Width))
  expect_same_directions(kfe_transform(crossed, iris), prcomp(columns)$x)
})
