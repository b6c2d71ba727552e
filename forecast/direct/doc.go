// Package direct forecasts each horizon by a regression of its own. Its regressors are the distances of the newest
// value from the one before it and from exponential means with short and long memory. A recursive model is fitted to
// one step ahead; these regressions are fitted to the horizon itself (Marcellino, Stock & Watson 2006 compare the two),
// in absolute error, because they are regressions of the median.
package direct
