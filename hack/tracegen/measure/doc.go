// Package measure computes the statistics that make demand easy or hard to forecast: its variation, the strength of its
// daily season, its autocorrelation, noise, bursts and gaps. The project's traces match real ones in them.
package measure
