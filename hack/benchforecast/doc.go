// Command benchforecast scores the forecasting library on two kinds of real data, for `make bench-forecast`: by the
// protocol of GIFT-Eval (Aksu et al. 2024), beside other methods, and live, by rolling origin.
//
// # Sets
//
// M4 hourly: the files of the M4 competition's hourly part (Makridakis, Spiliotis & Assimakopoulos 2020), one for training
// and one with the values after it: a window for each series.
//
// Traces: every CSV file in a folder (package [demandtest] reads them), by its own step and by the means of 30 s, 1, 5, 10 and
// 60 minutes where these are whole numbers of steps. The horizon is 48 steps, 60 below a minute (GIFT-Eval's short term), and
// ten times that (its medium term). The windows lie in the last tenth of a column, do not overlap, and are max(1, min(20,
// ⌈n/10/horizon⌉)) for the shortest of n steps. Each is fitted anew, to all that came before it. Where that is less than the
// horizon the set is left out, and named.
//
// # Measures
//
// Each takes every step of every window of a set as one. A step that was not observed counts nowhere.
//
//	mase           the mean absolute error of the median (mase_point: of the points) over the window's scale: the mean absolute
//	               difference a season apart in its history. The season is GluonTS's, a day, of steps below a minute an hour;
//	               one step where the history is no longer. A window with a scale of 0 counts in neither mase nor msis95, as
//	               GluonTS masks what it divides by 0. Gaps are passed over, where GluonTS would leave the window out.
//	msis95         the mean 95 % interval score over the window's scale
//	wql            twice the sum of the pinball losses over the sum of |y|, the mean of .1 … .9
//	smape, owa     of the median; owa is the mean of mase and smape over those of Naive2
//	coverage80/95  share of values within the central interval
//	cpu_seconds_per_series  the process's CPU time of a fit and its forecast, garbage collection included; one after the other
//
// Where Rscript has them, methods of R's package forecast and prophet are given the same windows: the newest --peer-history
// values, with gaps interpolated but for prophet, of one season (MSTL and TBATS: two, auto.arima: none from 49 steps on). Where
// one fails or needs more than --peer-limit of CPU on any window, it is left out of the set, with the reason.
//
// With --ablate the default model is scored without each kind of its candidates too: above 0 the kind is worth something.
//
// # Live
//
// The set "online": the first origin is a day after a trace's start, or a quarter of the trace where that is earlier; a model is
// fitted there to at most the last 14 days, gets each value by Update, and is refitted every 6 hours. At horizons of 1, 5, 10
// and 15 steps, for which the model is configured:
//
//	mae_ratio_last   the points' mean absolute error over that of the last value
//	p95_ratio_max5   the mean pinball loss, at 0.95, of the forecast of the 95 % quantile of the value at the horizon over
//	                 that of the maximum of the last 5 values in its place; p95_ratio_max15 likewise
//	p95_coverage     the share of values at or below that quantile; the table has all three for the window peak too
//
// The same files give the same figures, except for the CPU seconds and for prophet's draws.
package main
