// Package trailing sums up the newest values of a series, one step at a time: their mean, their maximum and the course of a
// season. A missing value is NaN. What is learnt about a demand (package windowpeak) and the rules that it is measured against
// (package simulate/policy) look back by the same means.
package trailing
