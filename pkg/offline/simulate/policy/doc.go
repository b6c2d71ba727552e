// Package policy has the policies for package [simulate]: the observed demand, the maximum of the recent past, the
// same time on other days, and Forewarm itself.
//
// A policy gets one observation after the other, and uses earlier ones if one is missing (NaN). Only OracleValues
// knows the future: a bound that no policy reaches.
package policy
