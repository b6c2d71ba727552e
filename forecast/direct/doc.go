// Package direct forecasts each horizon by a regression of its own, on what a short memory of the series holds: how far
// the newest value lies from the one before it and from means that forget quickly and slowly. Where a recursive model's
// forecasts stand on each other, and are best one step ahead, these are best at the horizon that is asked for (Marcellino,
// Stock & Watson 2006 compare the two), and in absolute error, since the regression is one of the median.
package direct
