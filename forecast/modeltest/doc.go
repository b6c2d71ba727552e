// Package modeltest tests what every forecast.Model owes to its callers, on series that break careless ones: a finite
// forecast or an error that wraps one of package forecast's sentinels, never a panic, and no allocation on the way from
// one observation to the next. Call Test from the tests of any model, and Check from its fuzz targets.
package modeltest
