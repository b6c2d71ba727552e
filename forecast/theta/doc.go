// Package theta forecasts by the Theta method (Assimakopoulos & Nikolopoulos 2000): halfway between the straight line
// through a series and an exponential smoothing of what its curvature doubled would be. It won the M3 competition.
//
// Hyndman & Billah (2003) showed that it is simple exponential smoothing with a drift of half the line's slope, which is
// how it is done here.
package theta
