// Package interval calibrates forecasts: it turns past forecast errors into quantiles with the right coverage, whatever
// the distribution of the errors.
//
// Scores keeps the recent errors (conformal scores) of one model at one horizon; its p-quantile, added to the next
// point forecast, is that forecast's p-quantile (split conformal inference: Vovk, Gammerman & Shafer 2005; on a sliding
// window for series, where exchangeability holds only roughly). Adaptive corrects the level by the coverage so far, so
// that the quantile follows a drift of the series (Gibbs & Candès 2021).
//
//	scores, adaptive := interval.NewScores(480), interval.NewAdaptive(0.95, 0.01)
//	upper := point + scores.Quantile(adaptive.Level(0.95))
//	… observe y …
//	adaptive.Record(y <= upper)
//	scores.Add(y - point)
//
// Errors that grow with the level are divided by it before they are added, and multiplied after. Package ensemble does
// all of this, for several such units.
package interval
