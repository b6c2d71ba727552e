// Package warmpools keeps the WarmPools of a cluster.
//
// A Watch sees the pools, on every replica: whom they cover decides how far a Forecast looks ahead. A Controller runs on the
// leader only. At each step it asks of every pool what its members' forecasts want together (package [warmpool]), has that
// held in mode Enforce (package [actuator]), and writes what became of it into the status: the numbers with a sentence,
// conditions with advice, and what must be remembered, so that whoever leads next goes on from there.
//
// # Conditions
//
//	Ready             the pool holds what it wants; else the reason is the state, or the fault
//	MembersResolved   every member is a Forecast that can be planned for, and no older pool's
//	ForecastsSound    the members' forecasts are fit to plan by; else the fallback is held at least
//	WithinBudget      idle time may still be spent today; only where there is a budget
//	Actuated          what is wanted is asked for, and nothing is in its way; only in mode Enforce
//
// # What a pool leaves behind
//
// Before a pool holds anything it gets a finalizer, which goes when everything was given back: on its deletion, and when
// its mode is Recommend again. A pool that becomes invalid keeps what it holds until it is mended.
package warmpools
