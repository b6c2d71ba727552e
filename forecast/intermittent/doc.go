// Package intermittent forecasts demand that is often 0: a queue that empties, a batch that comes now and then, nights
// without a request.
//
//	Croston  the size of a demand over the steps between two (Croston 1972), or less, as Syntetos & Boylan (2005) correct it
//	TSB      the size of a demand times the probability that there is one (Teunter, Syntetos & Babai 2011)
//	Slots    for each slot of the day, the probability of 0
//
// Croston learns only where there is a demand, so that its forecast stays where demand has ended; TSB fades then. Both
// forecast a mean, the same for all steps ahead. Slots are a hurdle for the quantiles of any forecast: they are exactly 0
// up to the probability of 0, which no distribution with one mean and one width has. Negative values count as 0.
package intermittent
