// Package ticks turns the range of an axis into the round values that are marked on it and their labels, for whatever
// draws them: in a page, in an SVG of its own or in a terminal.
package ticks
