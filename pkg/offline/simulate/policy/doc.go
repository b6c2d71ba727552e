// Package policy holds what people serve to an HPA, for package [simulate]: the demand as it is observed, the maximum of
// the recent past, the same time of other days, the forecast of one model, and a reactive rule that tunes itself. They
// are what forewarm's own decision is measured against.
//
// Every policy sees one observation after the other, and where one is missing (NaN) it goes by those before. Ahead alone
// knows the future: it is the bound that nothing reaches.
package policy
