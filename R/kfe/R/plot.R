# SPDX-License-Identifier: Apache-2.0
# Pictures with base graphics. A model: any figure of the library, drawn from its description. A search: its estimates.

FIGURES_OF_TYPES <- list(scores = c("scatter", "distributions"), scree = "scree", path = c("convergence", "path"))

plot.kfe <- function(x, newdata = NULL, y = NULL, type = "scores", features = NULL, train = NULL, y_train = NULL, row = NULL, ...) {
  type <- one_string(type, "type")
  if (type == "scores" && is.null(newdata) && is.null(train))
    stop_kfe("newdata is missing: a model keeps no training data; plot(model, data), or type = \"scree\" or \"path\"", "argument")
  draw_figure(figure_of(x, type, newdata, train, y, y_train, c(axes_of(x, features), list(row = row))), list(...))
  invisible(x)
}

# The options of a figure that choose its axes.
axes_of <- function(object, features) {
  if (is.null(features)) return(list())
  count <- model_of(object)$dim
  if (!is.numeric(features) || !length(features) %in% 1:3 || anyNA(features) || any(!features %in% seq_len(count)))
    stop_kfe(sprintf("features takes numbers from 1 to %d, not %s", count, shown(features)), "argument")
  stats::setNames(as.list(as.integer(features)), c("x", "y", "z")[seq_along(features)])
}

# The description of the first figure of a type that the model has.
figure_of <- function(object, type, newdata, train, y, y_train, options) {
  kinds <- if (is.null(FIGURES_OF_TYPES[[type]])) type else FIGURES_OF_TYPES[[type]]
  source <- report_source(object, train, newdata, y_train, y)
  settings_text <- options_text(options)
  for (kind in kinds) {
    drawn <- tryCatch(native("report", source$settings, source, settings_text, c(kind, "json"), NULL),
                      kfe_error = function(failure) if (kind == kinds[length(kinds)]) stop(failure))
    if (!is.null(drawn)) return(jsonlite::fromJSON(drawn, simplifyVector = FALSE))
  }
}

# ---- figures from descriptions ----

MARKERS <- c(19, 15, 17, 18, 25, 3, 4, 8)
OUTLINES <- c(1, 0, 2, 5, 6, 3, 4, 8) # the same markers, for training examples beside test examples
DASHES <- c("solid", "dashed", "dotted", "dotdash")

# Numbers of a column, from 1, or the codes of its words; NULL: the series has none.
values_of <- function(figure, series, key) {
  number <- series[[key]]
  if (is.null(number) || number == 0) return(NULL)
  column <- figure$columns[[number]]
  first <- if (is.null(series$first)) 0 else series$first
  all <- if (is.null(column$numbers)) column$codes else column$numbers
  vapply(all[first + seq_len(series$count)], function(each) if (is.null(each)) NA_real_ else as.numeric(each), 0)
}

words_of <- function(figure, series, key) {
  number <- series[[key]]
  if (is.null(number) || number == 0) NULL else unlist(figure$columns[[number]]$words)
}

is_set <- function(value) isTRUE(value)

draw_figure <- function(figure, settings) {
  count <- length(figure$panels)
  before <- graphics::par("mfrow", "mar")
  on.exit(graphics::par(mfrow = before$mfrow, mar = before$mar))
  if (count > 1) graphics::par(mfrow = c(ceiling(count / figure$across), figure$across), mar = c(4, 4, 2, 1))
  margins <- graphics::par("mar")
  for (number in seq_len(count)) {
    graphics::par(mar = margins)
    own <- Filter(function(series) identical(as.integer(c(series$panel, 0)[1]), number - 1L), figure$series)
    draw_panel(figure, figure$panels[[number]], own, settings)
  }
}

draw_panel <- function(figure, panel, series, settings) {
  if (length(series) == 0) { # a panel without series is only its name
    graphics::plot.new()
    graphics::title(if (length(figure$panels) == 1) figure$title else "")
    return(graphics::text(0.5, 0.5, panel$title))
  }
  open_panel(figure, panel, series, settings)
  if (panel$reference %in% c("zero", "level")) graphics::abline(h = if (panel$reference == "zero") 0 else panel$level, lty = "dashed", col = "#888888")
  if (panel$reference == "diagonal") graphics::abline(0, 1, lty = "dashed", col = "#888888")
  for (one in series) switch(one$mark, points = draw_points(figure, one), line = draw_line(figure, one),
                             bars = draw_bars(figure, one, series), heat = draw_heat(figure, one), labels = draw_labels(figure, one))
  if (!is.null(panel$ellipse)) graphics::lines(ellipse_of(panel), lty = "dashed", col = "#888888")
  add_legend(figure, series)
}

# Empty axes with room for all series, and the words of columns of words.
open_panel <- function(figure, panel, series, settings) {
  words <- list(x = words_of(figure, series[[1]], "x"), y = words_of(figure, series[[1]], "y"))
  defaults <- list(x = NA, y = NA, type = "n", xlim = range_of(figure, panel, series, "x"), ylim = range_of(figure, panel, series, "y"),
                   xlab = panel$x$title, ylab = panel$y$title, main = if (is.null(panel$title)) figure$title else panel$title,
                   log = logs_of(panel), asp = if (is_set(figure$square) && is.null(words$x)) 1 else NA)
  if (!is.null(words$x)) defaults[c("xaxt", "xlab")] <- list("n", "")
  if (!is.null(words$y)) defaults[c("yaxt", "ylab")] <- list("n", "")
  widest <- function(all) if (is.null(all)) 0 else 0.8 * max(graphics::strwidth(all, "inches")) - 0.3
  room <- graphics::par("mai")
  graphics::par(mai = pmax(room, room + c(widest(words$x), widest(words$y), 0, 0)))
  defaults$cex.main <- min(1.2, 1.2 * graphics::par("fin")[1] / (1 + graphics::strwidth(defaults$main, "inches", cex = 1.2, font = 2)))
  do.call(graphics::plot.default, utils::modifyList(defaults, settings))
  if (!is.null(words$x)) graphics::axis(1, seq_along(words$x) - 1, words$x, las = 2, cex.axis = 0.8)
  if (!is.null(words$y)) graphics::axis(2, seq_along(words$y) - 1, words$y, las = 1, cex.axis = 0.8)
}

logs_of <- function(panel) paste(c(if (is_set(panel$x$log)) "x", if (is_set(panel$y$log)) "y"), collapse = "")

range_of <- function(figure, panel, series, axis) {
  ends <- span_of(figure, panel, series, axis)
  if (is_set(panel[[axis]]$reversed)) rev(ends) else ends
}

span_of <- function(figure, panel, series, axis) {
  if (!is.null(panel[[axis]]$range)) return(unlist(panel[[axis]]$range))
  words <- words_of(figure, series[[1]], axis)
  if (!is.null(words)) return(if (axis == "y" && is_set(figure$reversed)) c(length(words) - 0.5, -0.5) else c(-0.5, length(words) - 0.5))
  all <- unlist(lapply(series, function(one) {
    values <- values_of(figure, one, axis)
    spread <- if (axis == "y") values_of(figure, one, "spread") else NULL
    ends <- if (one$mark != "bars") NULL else if (axis == "y") 0 else c(values - 0.5, values + 0.5)
    c(values, ends, if (!is.null(spread)) c(values - spread, values + spread))
  }))
  if (!is.null(panel$ellipse)) all <- c(all, ellipse_of(panel)[[axis]])
  if (is_set(panel[[axis]]$log)) all <- all[all > 0]
  range(all, finite = TRUE)
}

draw_points <- function(figure, one) {
  x <- values_of(figure, one, "x")
  y <- values_of(figure, one, "y")
  if (!is.null(one$shift)) y <- y + values_of(figure, one, "shift")
  if (is_set(one$crosses)) return(graphics::points(x, y, pch = marker_of(one), col = ink_of(one)))
  draw_errors(x, y, values_of(figure, one, "spread"))
  shade <- values_of(figure, one, "shade")
  colour <- if (is.null(shade)) one$colour else shades(shade)
  graphics::points(x, y, pch = marker_of(one), col = colour, bg = colour, cex = 0.8)
}

marker_of <- function(one) {
  if (is_set(one$crosses)) return(if (is_set(one$hollow)) 3 else 4)
  (if (is_set(one$hollow)) OUTLINES else MARKERS)[one$style %% length(MARKERS) + 1]
}

# Wrong predictions of training examples are grey plus signs, those of test examples black crosses.
ink_of <- function(one) if (!is_set(one$crosses)) one$colour else if (is_set(one$hollow)) "#888888" else "black"

# Words above their places.
draw_labels <- function(figure, one) {
  code <- values_of(figure, one, "label")
  words <- unlist(figure$columns[[one$label]]$words)
  named <- which(code >= 0)
  graphics::text(values_of(figure, one, "x")[named], values_of(figure, one, "y")[named], words[code[named] + 1], pos = 3, offset = 0.3, cex = 0.7, xpd = NA)
}

ellipse_of <- function(panel) {
  numbers <- unlist(panel$ellipse)
  angle <- seq(0, 2 * pi, length.out = 73)
  list(x = numbers[1] + numbers[3] * cos(angle), y = numbers[2] + numbers[4] * cos(angle) + numbers[5] * sin(angle))
}

draw_errors <- function(x, y, spread) {
  if (!is.null(spread)) graphics::segments(x, y - spread, x, y + spread, col = "#888888")
}

# Low numbers are blue, high ones red.
shades <- function(values) {
  palette <- grDevices::colorRampPalette(c("#2166ac", "#bbbbbb", "#b2182b"))(100)
  if (diff(range(values, finite = TRUE)) == 0) palette[50] else palette[cut(values, 100, labels = FALSE)]
}

draw_line <- function(figure, one) {
  x <- values_of(figure, one, "x")
  y <- values_of(figure, one, "y")
  spread <- values_of(figure, one, "spread")
  if (!is.null(spread)) graphics::polygon(c(x, rev(x)), c(y - spread, rev(y + spread)), border = NA, col = paste0(one$colour, "2E"))
  dash <- if (is_set(one$dashed)) "dashed" else if (is_set(one$grey) || is_set(one$plain)) "solid" else DASHES[one$style %% length(DASHES) + 1]
  graphics::lines(x, y, col = one$colour, lty = dash)
  if (is_set(one$dotted)) graphics::points(x, y, col = one$colour, pch = marker_of(one), cex = 0.7)
}

draw_bars <- function(figure, one, series) {
  beside <- Filter(function(each) each$mark == "bars", series)
  width <- 0.8 / length(beside)
  position <- Position(function(each) identical(each, one), beside)
  x <- values_of(figure, one, "x") + (position - (length(beside) + 1) / 2) * width
  y <- values_of(figure, one, "y")
  graphics::rect(x - width / 2, 0, x + width / 2, y, col = one$colour, border = NA)
  draw_errors(x, y, values_of(figure, one, "spread"))
}

draw_heat <- function(figure, one) {
  x <- values_of(figure, one, "x")
  z <- values_of(figure, one, "z")
  last <- length(words_of(figure, one, "y")) - 1
  y <- values_of(figure, one, "y")
  share <- (z - min(z, na.rm = TRUE)) / max(diff(range(z, na.rm = TRUE)), .Machine$double.xmin)
  graphics::rect(x - 0.5, y - 0.5, x + 0.5, y + 0.5, col = grDevices::rgb(grDevices::colorRamp(c("#f7fbff", "#08306b"))(share), maxColorValue = 255), border = NA)
  if (is_set(figure$counts) && last < 20) graphics::text(x, y, z, col = ifelse(share > 0.55, "white", "black"), cex = 0.8)
}

add_legend <- function(figure, series) {
  named <- Filter(function(one) !is.null(one$name), series)
  if (length(named) == 0) return(invisible())
  is_point <- vapply(named, function(one) one$mark == "points", TRUE)
  graphics::legend(empty_corner(figure, series), legend = vapply(named, function(one) one$name, ""), bty = "n", cex = 0.8,
                   col = vapply(named, ink_of, ""),
                   pch = ifelse(is_point, vapply(named, marker_of, 0), 15), pt.cex = ifelse(is_point, 0.8, 1.2))
}

# The corner with the fewest points.
empty_corner <- function(figure, series) {
  at <- function(axis, ends) {
    values <- unlist(lapply(series, function(one) values_of(figure, one, axis)))
    (values - ends[1]) / (ends[2] - ends[1])
  }
  if (graphics::par("xlog") || graphics::par("ylog")) return("topright")
  x <- at("x", graphics::par("usr")[1:2])
  y <- at("y", graphics::par("usr")[3:4])
  taken <- c(topright = sum(x > 0.6 & y > 0.6, na.rm = TRUE), topleft = sum(x < 0.4 & y > 0.6, na.rm = TRUE),
             bottomright = sum(x > 0.6 & y < 0.4, na.rm = TRUE), bottomleft = sum(x < 0.4 & y < 0.4, na.rm = TRUE))
  names(which.min(taken))
}

# ---- searches ----

plot.kfe_search <- function(x, ..., type = NULL) {
  if (!is.null(type)) {
    drawn <- kfe_figure(x, one_string(type, "type"), format = "json")
    draw_figure(jsonlite::fromJSON(drawn, simplifyVector = FALSE), list(...))
    return(invisible(x))
  }
  found <- estimates_of(x)
  found <- found[!is.na(found$mean), ]
  if (nrow(found) == 0) stop_kfe("the search has no estimates to draw", "unsupported")
  plot_estimates(found, attr(found, "metric"), ...)
  invisible(x)
}

# What was estimated: data frame(label, mean, standard_error), best first for a search over candidates.
estimates_of <- function(x) {
  tables <- x$tables
  metric <- if (is.null(tables$facts$metric)) names(group_of(tables$splits, "metrics"))[1] else tables$facts$metric
  if (inherits(x, "kfe_tune")) rows <- tables$ranking
  else if (inherits(x, "kfe_compare")) rows <- tables$methods
  else rows <- if (nrow(tables$settings) > 0) tables$settings else tables$facts
  labels <- if (inherits(x, "kfe_tune")) rows$candidate
    else if (inherits(x, "kfe_compare")) rows$label
    else if (nrow(tables$settings) > 0) setting_labels(group_of(rows, "setting"), ", ")
    else rows$method
  numbers <- if (inherits(x, "kfe_tune")) rows else group_of(rows, paste0("metrics/", metric))
  structure(data.frame(label = labels, mean = numbers$mean, standard_error = numbers$standard_error), metric = metric)
}

# Each row of settings in one line, as "gamma=0.1, C=10".
setting_labels <- function(settings, separator) {
  vapply(seq_len(nrow(settings)), function(row) {
    own <- Filter(Negate(is.na), unlist(settings[row, , drop = FALSE]))
    paste(names(own), own, sep = "=", collapse = separator)
  }, "")
}

# One line for each estimate, the first on top, with a bar of one standard error to each side.
plot_estimates <- function(found, metric, ...) {
  count <- nrow(found)
  height <- rev(seq_len(count))
  error <- ifelse(is.na(found$standard_error), 0, found$standard_error)
  room <- graphics::par(mai = pmax(graphics::par("mai"), c(0, 0.3 + max(graphics::strwidth(found$label, "inches")), 0, 0)))
  on.exit(graphics::par(room))
  defaults <- list(x = found$mean, y = height, xlim = range(found$mean - error, found$mean + error), ylim = c(0.5, count + 0.5), pch = 19,
                   xlab = paste(metric, "\u00b1 standard error"), ylab = "", yaxt = "n")
  do.call(graphics::plot.default, utils::modifyList(defaults, list(...)))
  graphics::segments(found$mean - error, height, found$mean + error, height)
  graphics::axis(2, height, found$label, las = 1)
}
