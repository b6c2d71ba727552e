// Package naive has the baselines: the series stays as it is, or repeats the last season.
//
//	Last            the last observation
//	Seasonal        the same step of the last season
//	Deseasonalised  the last observation, or a Model, with the season's factors: the M4 competition's Naive2
//	Segment         the mean since the level last shifted
//
// The methods estimate only the size of their errors, need little history and cannot diverge. Every model must beat
// them, and they are used until one does.
//
// The standard errors are Gaussian: those of a random walk grow with √h, those of a seasonal random walk by whole
// seasons (Hyndman & Athanasopoulos 2021, §5.5).
package naive
