// Package backtest scores a model by rolling origin: it replays a series to the model, and compares the forecasts at
// each origin with the values after it (Tashman 2000; Hyndman & Athanasopoulos 2021, §5.10).
//
//	options := backtest.Options{
//		Horizons: []int{1, 12}, Quantiles: []float64{0.05, 0.95}, First: 96, Refit: 12, Period: 12,
//	}
//	result, err := backtest.Run(series, options, smoothing.HoltWinters{Period: 12})
//
// The model is fitted to the values before the first origin. From then on it gets one value at a time by Update, as in
// production; every Refit steps it is refitted, to all values so far or to the newest Window values. No value reaches a
// model before its time.
//
// A score alone means little: run the last value and the seasonal naive method on the same origins beside it.
//
// The folds, which are the stretches between fits, are independent. Options.Each is the caller's executor, which may
// run several at once; the result is the same to the bit.
package backtest
