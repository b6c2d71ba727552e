// Package transform lets a model work on another scale than that of the series: logarithms, powers, bounds.
//
// A Transform is a one-to-one map of values. Model fits any forecast.Model to the transformed series and takes its
// forecast back: a quantile of the transformed value is, taken back, the quantile of the value, because the map is
// increasing. That goes for the median above all, so points are medians unless means are asked for.
//
//	transform.Log{Model: m}                                          // what multiplies adds up; zeros do no harm
//	transform.Power{Period: 12, Model: m}                            // Box-Cox, by a power that Guerrero finds
//	transform.Model{Transform: transform.Clip{High: 1}, Model: m}    // a share
package transform
