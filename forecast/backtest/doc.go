// Package backtest plays a series to a model as it would have come, and scores what the model said at each origin by
// what came after: the rolling-origin evaluation (Tashman 2000; Hyndman & Athanasopoulos 2021, §5.10).
//
//	options := backtest.Options{
//		Horizons: []int{1, 12}, Quantiles: []float64{0.05, 0.95}, First: 96, Refit: 12, Period: 12,
//	}
//	results, err := backtest.Compare(series, options, smoothing.HoltWinters{Period: 12})
//
// The model is fitted to the values before the first origin. From then on it gets one value at a time by Update, which
// is how it is used in earnest; every Refit steps it is fitted anew, to all that has come or to the newest Window values.
// No value reaches a model before its time.
//
// Compare puts the last value and the seasonal naive method beside the models, on the same origins and the same values:
// a score means little alone.
//
// The stretches between fits (folds) know nothing of each other. Options.Each takes an executor of the caller's that may
// work on several at once; the result is the same to the last bit.
package backtest
