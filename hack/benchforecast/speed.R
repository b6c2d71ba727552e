# Times R's fits: prints a row a fit, tab-separated: key and mean CPU seconds. The first file has a series a row, of
# season 24, the second a single one without season.
suppressPackageStartupMessages(library(forecast))

arguments <- commandArgs(trailingOnly = TRUE)
series <- function(path) {
  lapply(strsplit(readLines(path), ","), as.numeric)
}
seconds <- function(fit) {
  begun <- proc.time()
  suppressWarnings(fit())
  sum((proc.time() - begun)[c("user.self", "sys.self")])
}
row <- function(key, spent) cat(key, "\t", mean(spent), "\n", sep = "")

seasonal <- lapply(series(arguments[1]), ts, frequency = 24)
plain <- series(arguments[2])[[1]]
row("holt-winters", sapply(seasonal, function(x) seconds(function() try(HoltWinters(x), silent = TRUE))))
row("ets", sapply(head(seasonal, 3), function(x) seconds(function() ets(x))))
row("arima201", sapply(1:5, function(i) seconds(function() arima(plain, c(2, 0, 1)))))
row("auto-arima", sapply(1:3, function(i) seconds(function() auto.arima(plain, seasonal = FALSE))))
