// Package measure describes a series of demand by the few numbers that make it easy or hard to forecast: how much it
// varies, how strong its day is, how long it remembers, how noisy, bursty and broken it is. Traces are made to match
// real ones by these numbers.
package measure
