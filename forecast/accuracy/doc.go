// Package accuracy measures how well forecasts met what came: points by their errors, quantiles and intervals by proper
// scores and by their coverage.
//
// Every measure compares step by step and skips the steps where the observation or the forecast is missing (NaN).
// Slices of different length are an error (forecast.ErrParameter), and so is a comparison of which nothing is left
// (forecast.ErrTooShort): a score of nothing is not 0. Smaller is better for all but Coverage.
package accuracy
