// Package simulatecmd is the command that plays a user's own history to the user's own autoscaler, to what others do
// without a forecast, and to forewarm, and tells what each would have cost and how much would have been late.
package simulatecmd
