// Package demo runs all of forewarm on one machine against a simulated demand: a trace, whose past is stored at once and whose rest
// is played faster than life. One clock runs through all of it: the store's samples, the loop's queries, the simulated autoscalers
// and what is served.
package demo
