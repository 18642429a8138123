# SPDX-License-Identifier: Apache-2.0
# Reports and figures.

odd <- seq(1, 149, 2)
model <- kfe(Species ~ ., iris[odd, ], method = "koc", learner = "svm", seed = 1)

page_of <- function(...) {
  path <- tempfile(fileext = ".html")
  kfe_report(..., file = path)
  paste(readLines(path, warn = FALSE), collapse = "\n")
}

test_that("a report shows model and data", {
  page <- page_of(model, train = iris[odd, ], test = iris[-odd, ])
  expect_match(page, "<!doctype html>", ignore.case = TRUE)
  for (word in c("versicolor", "koc", R.version.string, "kfe(formula = Species")) expect_match(page, word, fixed = TRUE)
  expect_gt(nchar(page), nchar(page_of(model, test = iris[-odd, ])))
})

test_that("a report shows searches", {
  found <- kfe_cv(Species ~ ., iris, method = "koc", learner = "svm", grid = list(gamma = c(0.1, 1)), folds = 3)
  expect_match(page_of(found), "gamma", fixed = TRUE)
  compared <- kfe_compare(flowers, species, folds = 3, specs = list(list(method = "koc", learner = "knn"),
                                                                   list(method = "pca", dim = 2, learner = "knn")))
  expect_match(page_of(compared), "pca", fixed = TRUE)
  expect_error(page_of(found, test = iris), "found$model", fixed = TRUE, class = "kfe_error_argument")
})

test_that("figures are drawn as text and as files", {
  expect_true(all(c("scatter", "confusion") %in% kfe_figure()$name))
  svg <- kfe_figure(model, "confusion", test = iris[-odd, ])
  expect_match(svg, "^<svg")
  path <- tempfile(fileext = ".csv")
  kfe_figure(model, "confusion", test = iris[-odd, ], file = path)
  shown <- utils::read.csv(path)
  truth <- table(iris$Species[-odd], predict(model, iris[-odd, ]))
  expect_equal(shown$count, truth[cbind(shown$true.class, shown$predicted.class)])
  expect_equal(sum(shown$count), 75)
})

test_that("mistakes are named", {
  expect_error(kfe_figure(model, "scater", test = iris[-odd, ]), "scatter", class = "kfe_error")
  expect_error(kfe_figure(model, "confusion"), "data", class = "kfe_error")
  expect_error(kfe_figure(model, "confusion", test = iris[-odd, ], file = "x.gif"), ".svg", fixed = TRUE, class = "kfe_error")
  expect_error(kfe_report(model, file.path(tempdir(), "no", "where.html"), test = iris[-odd, ]), class = "kfe_error")
  expect_error(kfe_report(model, tempfile(), test = iris[-odd, ], nonsense = 1), "nonsense", class = "kfe_error")
})
