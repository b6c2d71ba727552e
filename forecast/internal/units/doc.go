// Package units takes the unit of measurement out of a series, so that the models above it compute with numbers near 1
// whatever the series counts: bytes, requests or 1e-300 of something.
package units
