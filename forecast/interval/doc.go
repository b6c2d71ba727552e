// Package interval calibrates what a model says by what came: it turns past forecast errors into quantiles that hold on
// the series at hand, whatever the shape of its errors.
//
// Scores keeps the recent errors (conformal scores) of one model at one horizon; its p-quantile, added to the next point
// forecast, is that forecast's p-quantile (split conformal inference: Vovk, Gammerman & Shafer 2005; on a sliding window
// for series, where exchangeability holds only roughly). Adaptive corrects the level by the errors' own coverage, so
// that a drift of the series does not leave the quantile behind (Gibbs & Candès 2021).
//
//	scores, adaptive := interval.NewScores(480), interval.NewAdaptive(0.95, 0.01)
//	upper := point + scores.Quantile(adaptive.Level(0.95))
//	… y comes …
//	adaptive.Record(y <= upper)
//	scores.Add(y - point)
//
// Errors that grow with the level are divided by it before they are added, and multiplied after. Package ensemble does all
// of this, for several such units.
package interval
