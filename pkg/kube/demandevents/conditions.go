package demandevents

// The conditions of a DemandEvent and their reasons. docs/reference/conditions.md is generated from these comments.

// Conditions of a DemandEvent.
const (
	// conditionApplied is True while at least one Forecast has the event.
	conditionApplied = "Applied"
	// conditionPlausible is present, and False, while the event did not come to what is written.
	conditionPlausible = "Plausible"
)

// Reasons of the condition Applied.
const (
	// reasonApplied (True): the message names the Forecasts.
	reasonApplied = "Applied"
	// reasonInvalid (False): a field is wrong, so no Forecast has the event.
	//
	// Fix: the message says what to write.
	reasonInvalid = "Invalid"
	// reasonNoForecast (False): the namespace has no such Forecast, or none that is valid.
	//
	// Fix: correct spec.forecasts, or create the Forecast.
	reasonNoForecast = "NoForecast"
	// reasonTooMany (False): the Forecasts have 64 events already, or the namespace has 500; older ones come first.
	//
	// Fix: delete events that are over, or write several times of one name into alsoOn.
	reasonTooMany = "TooMany"
)

// Reasons of the condition Plausible.
const (
	// reasonNoEffect (False): its last two occurrences had less than a quarter of the effect.
	//
	// Fix: correct the event, or delete it.
	reasonNoEffect = "NoEffect"
)
