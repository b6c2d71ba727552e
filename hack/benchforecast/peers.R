# Forecasts windows by a method of R. Arguments: the most CPU seconds that a window may take, and the method. Reads a window
# a row: season, week and horizon in steps, step and start in seconds, then the history, NA for a gap. Prints for each, tab-
# separated, the CPU seconds and the quantiles of its steps, a level after the other. Where the method fails, or takes longer,
# it prints why, and ends.
arguments <- commandArgs(trailingOnly = TRUE)
output <- file("/dev/stdout", "w")
sink(stderr())
levels <- c(0.025, seq(0.1, 0.9, 0.1), 0.975)
central <- c(0, 20, 40, 60, 80, 95)

series <- function(w) {
  x <- forecast::na.interp(ts(w$x))
  ts(x, frequency = if (length(x) >= 2 * w$season) w$season else 1)
}
seasons <- function(w) {
  x <- series(w)
  if (length(x) >= 2 * w$week) forecast::msts(x, c(w$season, w$week)) else x
}
of <- function(f) cbind(f$lower[, 6:1], f$upper[, 2:6])
quietly <- function(method, w) {
  q <- suppressMessages(suppressWarnings(method(w)))
  if (all(is.finite(q))) q else stop("the forecast is not finite")
}

methods <- list(
  thetaf = function(w) of(forecast::thetaf(series(w), h = w$h, level = central)),
  # A seasonal ARIMA of hundreds of steps takes gigabytes for its first covariance.
  auto.arima = function(w) {
    x <- series(w)
    of(forecast::forecast(forecast::auto.arima(x, seasonal = frequency(x) <= 48), h = w$h, level = central))
  },
  ets = function(w) of(forecast::forecast(forecast::ets(series(w)), h = w$h, level = central)),
  stlf = function(w) of(forecast::stlf(seasons(w), h = w$h, level = central)),
  tbats = function(w) {
    of(forecast::forecast(forecast::tbats(seasons(w), use.parallel = FALSE), h = w$h, level = central))
  },
  prophet = function(w) {
    library(prophet) # It finds its holidays only where it is attached.
    at <- function(i) as.POSIXct(w$start + w$step * (i - 1), origin = "1970-01-01", tz = "UTC")
    n <- length(w$x)
    m <- prophet::prophet(data.frame(ds = at(seq_len(n)), y = w$x))
    drawn <- prophet::predictive_samples(m, data.frame(ds = at(n + seq_len(w$h))))$yhat
    t(apply(drawn, 1, quantile, probs = levels))
  }
)

seconds <- function() sum(proc.time()[c(1, 2, 4, 5)])
say <- function(...) {
  cat(..., sep = "\t", file = output)
  cat("\n", file = output)
  flush(output)
}
windows <- lapply(strsplit(readLines("stdin"), ",", fixed = TRUE), function(row) {
  v <- as.numeric(row)
  list(season = v[1], week = v[2], h = v[3], step = v[4], start = v[5], x = v[-(1:5)])
})
for (w in windows) {
  set.seed(1)
  begun <- seconds()
  setTimeLimit(cpu = as.numeric(arguments[1]))
  said <- tryCatch(quietly(methods[[arguments[2]]], w), error = conditionMessage)
  setTimeLimit()
  if (is.character(said)) {
    say(gsub("[\t\n ]+", " ", said))
    break
  }
  say(seconds() - begun, format(said, digits = 8, trim = TRUE))
}
