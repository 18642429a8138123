# SPDX-License-Identifier: Apache-2.0
# The command-line tool and this package give the same numbers.

test_that("features and predictions equal those of the command line", {
  kfe_command <- command()
  folder <- tempfile()
  dir.create(folder)
  in_folder <- function(name) file.path(folder, name)
  frame <- data.frame(flowers, label = species)
  write.csv(frame, in_folder("train.csv"), row.names = FALSE)
  run <- function(...) {
    arguments <- shQuote(c(...))
    expect_identical(system2(kfe_command, arguments, stdout = FALSE, stderr = FALSE), 0L, info = paste(arguments, collapse = " "))
  }
  for (method in c("koc", "kfd", "pls", "hsic")) {
    run("fit", "-q", "-m", method, "--learner", "svm", in_folder("train.csv"), "-o", in_folder("cli.kfe"))
    run("transform", "-q", in_folder("cli.kfe"), in_folder("train.csv"), "-o", in_folder("z.csv"))
    expected <- as.matrix(read.csv(in_folder("z.csv"), header = FALSE, skip = 1))
    if (nrow(expected) < 150) expected <- as.matrix(read.csv(in_folder("z.csv"), header = FALSE))
    loaded <- kfe_load(in_folder("cli.kfe"))
    fitted <- kfe(flowers, species, method = method, learner = "svm")
    scale <- max(abs(expected))
    expect_lt(max(abs(kfe_transform(loaded, flowers) - expected)) / scale, 1e-12)
    expect_lt(max(abs(kfe_transform(fitted, flowers) - expected)) / scale, 1e-12)
    kfe_save(fitted, in_folder("r.kfe"))
    run("predict", "-q", in_folder("r.kfe"), in_folder("train.csv"), "-o", in_folder("labels.csv"))
    labels <- readLines(in_folder("labels.csv"))
    expect_identical(utils::tail(labels, 150), as.character(predict(fitted, flowers)))
  }
})
