// Package transform fits models on another scale than that of the series: logarithms, powers, bounds.
//
// A Transform is a one-to-one map of values. Model fits any forecast.Model to the transformed series and transforms its
// forecast back. The map is increasing, so a quantile of the transformed value maps back to the quantile of the value.
// The same holds for the median, so points are medians unless means are requested.
//
//	transform.Log{Model: m}                                          // multiplicative effects become additive; zeros are allowed
//	transform.Power{Period: 12, Model: m}                            // Box-Cox, with the power of Guerrero
//	transform.Model{Transform: transform.Clip{High: 1}, Model: m}    // a share
package transform
