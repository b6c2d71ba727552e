// Package trailing computes statistics of the newest values of a series, step by step: mean, maximum and seasonal
// profile. A missing value is NaN. The candidates ([github.com/forewarm/forewarm/pkg/core/windowpeak]) and the
// simulated policies ([github.com/forewarm/forewarm/pkg/offline/simulate/policy]) share them.
package trailing
