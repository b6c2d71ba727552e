# Scores R's package forecast on the files that benchforecast was given. Prints a row a method, tab-separated:
# method, series, MASE, sMAPE, coverage 80, coverage 95, MSIS 95, CPU seconds a series. The measures are those of doc.go.
suppressPackageStartupMessages(library(forecast))

arguments <- commandArgs(trailingOnly = TRUE)
train <- read.csv(arguments[1], row.names = 1, check.names = FALSE)
test <- read.csv(arguments[2], row.names = 1, check.names = FALSE)
m <- 24
known <- function(rows, id) { x <- as.numeric(rows[id, ]); x[seq_len(max(which(!is.na(x))))] }

naive <- function(x, h) snaive(ts(x, frequency = m), h = h, level = c(80, 95))

methods <- list(
  "R: seasonal naive" = naive,
  # Its optimiser fails on some of the series.
  "R: HoltWinters, else seasonal naive" = function(x, h) {
    tryCatch(forecast(HoltWinters(ts(x, frequency = m)), h = h, level = c(80, 95)), error = function(e) naive(x, h))
  },
  "R: MSTL(24,168) + ETS" = function(x, h) stlf(msts(x, c(m, 168)), h = h, method = "ets", level = c(80, 95)),
  "R: MSTL(24,168) + auto.arima" = function(x, h) stlf(msts(x, c(m, 168)), h = h, method = "arima", level = c(80, 95))
)
combined <- c(1, 3, 4)

seconds <- function() sum(proc.time()[c("user.self", "sys.self")])
bounds <- function(f) {
  parts <- list(f$mean, f$lower[, 1], f$upper[, 1], f$lower[, 2], f$upper[, 2])
  matrix(unlist(lapply(parts, as.numeric)), ncol = length(parts))
}

measure <- function(b, y, x) {
  scale <- mean(abs(diff(x, lag = m)))
  error <- abs(y - b[, 1])
  outside <- pmax(b[, 4] - y, 0) + pmax(y - b[, 5], 0)
  c(mean(error) / scale, mean(200 * error / (abs(y) + abs(b[, 1]))),
    mean(y >= b[, 2] & y <= b[, 3]), mean(y >= b[, 4] & y <= b[, 5]),
    mean(b[, 5] - b[, 4] + 2 / 0.05 * outside) / scale)
}

total <- matrix(0, length(methods) + 1, 6)
for (id in rownames(train)) {
  x <- known(train, id)
  y <- known(test, id)
  said <- vector("list", length(methods))
  spent <- numeric(length(methods))
  for (i in seq_along(methods)) {
    begun <- seconds()
    said[[i]] <- bounds(suppressWarnings(methods[[i]](x, length(y))))
    spent[i] <- seconds() - begun
    total[i, ] <- total[i, ] + c(measure(said[[i]], y, x), spent[i])
  }
  mean_of <- Reduce(`+`, said[combined]) / length(combined)
  last <- nrow(total)
  total[last, ] <- total[last, ] + c(measure(mean_of, y, x), sum(spent[combined]))
}
names <- c(names(methods), "R: mean of MSTL's two and seasonal naive")
for (i in seq_along(names)) {
  cat(names[i], nrow(train), signif(total[i, ] / nrow(train), 8), sep = "\t")
  cat("\n")
}
