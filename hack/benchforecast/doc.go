// Command benchforecast scores the forecasting library on two kinds of real data, for `make bench-forecast`.
//
// Series with a season: the files of the M4 competition's hourly part (Makridakis, Spiliotis & Assimakopoulos 2020),
// one for training and one with the values after it. Each series is fitted and forecast once, over the test file's
// horizon.
//
//	mase, smape    means over the series; the scale of MASE is the training series' error of season 24
//	owa            both over those of Naive2 on the same files, averaged
//	coverage80/95  share of values within the central interval
//	msis95         mean over the series of the 95 % interval score, scaled as MASE is
//	cpu_seconds_per_series  the process's own CPU time, user and system and garbage collection included, from before each
//	               fit until after its forecast with the four quantiles; the series go one after the other
//
// Traces: every value column of every CSV file in a folder (the shape is package [trace]'s), by rolling origin. The
// first origin is a day after the start, or a quarter of the trace where that is earlier; a model is fitted there to at
// most the last 14 days, gets each value by Update, and is refitted every 6 hours. At horizons of 1, 5, 10 and 15
// steps, for which the model is configured:
//
//	mae_ratio_last   the points' mean absolute error over that of the last value
//	p95_ratio_max5   the mean pinball loss, at 0.95, of the forecast of the 95 % quantile of the value at the horizon over
//	                 that of the maximum of the last 5 values in its place; p95_ratio_max15 likewise
//	p95_coverage     the share of values at or below that quantile
//	(window peak)    the same for the maximum of the values up to the horizon; in the table only
//
// The same files give the same figures, except for the CPU seconds.
package main
