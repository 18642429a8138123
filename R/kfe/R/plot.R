# SPDX-License-Identifier: Apache-2.0
# Pictures of a model with base graphics: scores by class, a scree plot, the path of an iterative fit.

plot.kfe <- function(x, newdata = NULL, y = NULL, type = c("scores", "scree", "path"), features = c(1, 2), ...) {
  type <- match.arg(type)
  switch(type, scores = plot_scores(x, newdata, y, features, ...), scree = plot_scree(x, ...), path = plot_path(x, ...))
  invisible(x)
}

plot_scores <- function(object, newdata, y, features, ...) {
  if (is.null(newdata))
    stop_kfe("newdata is missing: a model keeps no training data; plot(model, data), or type = \"scree\" or \"path\"", "argument")
  if (is.null(y)) y <- target_in(object, newdata)
  z <- kfe_transform(object, newdata)
  features <- features[features <= ncol(z)]
  colours <- score_colours(y)
  if (length(features) < 2) return(plot_one_feature(z[, features[1]], colnames(z)[features[1]], y, colours, ...))
  defaults <- list(x = z[, features], col = colours, pch = 19, xlab = colnames(z)[features[1]],
                   ylab = colnames(z)[features[2]], main = object$method)
  do.call(graphics::plot.default, utils::modifyList(defaults, list(...)))
  add_legend(y)
}

plot_one_feature <- function(values, name, y, colours, ...) {
  groups <- if (is_category(y) || is.logical(y)) as.factor(y) else NULL
  height <- if (is.null(groups)) if (is.numeric(y)) y else rep(0, length(values)) else as.integer(groups)
  defaults <- list(x = values, y = height, col = colours, pch = 19, xlab = name, ylab = if (is.numeric(y)) "target" else "",
                   yaxt = if (is.null(groups)) "s" else "n")
  do.call(graphics::plot.default, utils::modifyList(defaults, list(...)))
  if (!is.null(groups)) graphics::axis(2, seq_along(levels(groups)), levels(groups), las = 1)
}

# Classes have the colours of the palette; numbers go from blue to red.
score_colours <- function(y) {
  if (is.null(y)) return(1)
  if (is_category(y) || is.logical(y)) return(class_colours(as.factor(y))[as.integer(as.factor(y))])
  shade <- grDevices::colorRampPalette(c("#2166ac", "#bbbbbb", "#b2182b"))(100)
  values <- if (is.matrix(y)) y[, 1] else y
  shade[cut(values, 100, labels = FALSE)]
}

class_colours <- function(groups) grDevices::hcl.colors(max(2L, nlevels(groups)), "Dark 3")

add_legend <- function(y) {
  if (!is_category(y) && !is.logical(y)) return(invisible())
  groups <- as.factor(y)
  graphics::legend("topright", legend = levels(groups), col = class_colours(groups), pch = 19, bty = "n")
}

plot_scree <- function(object, ...) {
  records <- facts_of(object)$records
  name <- intersect(c("eigenvalues", "singular-values", "variance"), names(records))
  if (length(name) == 0)
    stop_kfe(sprintf("a model of %s records no eigenvalues; it records %s", object$method, listed(names(records))), "unsupported")
  plot_record(records[[name[1]]], name[1], "feature", object$method, ...)
}

PATHS <- c("objective", "alignment", "radius-margin", "loss", "residual")

plot_path <- function(object, ...) {
  records <- facts_of(object)$records
  name <- intersect(PATHS, names(records))
  if (length(name) == 0)
    stop_kfe(sprintf("a model of %s records no path; it records %s", object$method, listed(names(records))), "unsupported")
  plot_record(records[[name[1]]], name[1], "iteration", object$method, ...)
}

plot_record <- function(values, name, axis, title, ...) {
  defaults <- list(x = seq_along(values), y = values, type = "b", pch = 19, xlab = axis, ylab = name, main = title)
  do.call(graphics::plot.default, utils::modifyList(defaults, list(...)))
}
