package fleets

// What tests use of this package.
var (
	ReadFleet = newFleet
	ReadQueue = newQueue
)
