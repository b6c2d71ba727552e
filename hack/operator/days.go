package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// day is a day of an operator: something that goes wrong, or seems to, and how Forewarm reacts.
type day struct {
	// Name and Happens say what happens, for a reader.
	Name, Happens string
	// demand returns the demand at a time after the event, given the usual demand. If it is nil, the demand stays as usual.
	demand func(after time.Duration, usual float64) float64
	// saturated is true if the saturation signal is above 0 from the event on.
	saturated bool
	// fail returns the source's error at a time after the event; nil if there are no errors.
	fail func(after time.Duration) error
	// change changes the Forecast; nil if it does not change.
	change func(t *refresh.Job, now time.Time)
	// restart is when the adapter starts again after the event; 0 for never. down is true if the adapter is down from the event until then.
	restart time.Duration
	down    bool
	// gone is how long the Forecast does not exist from the event on.
	gone time.Duration

	// After is when the rest holds, after the event.
	After time.Duration
	// Served is what is served, for a reader. least and most bound it, as multiples of what was served before the event; 0 and 0 for
	// nothing.
	Served      string
	least, most float64
	// State of the Forecast, empty for Ready, and conditions with their reasons; none that are bad where there are none.
	State      string
	Conditions map[string]string
	// Alert that fires, for the first time Within a time after the event; empty for none in the time until After and the ten minutes
	// after that.
	Alert  string
	Within time.Duration
	// Do is what to do; empty for nothing.
	Do string
	// Test plays it where it takes a cluster; empty where this table is played.
	Test string
}

const minute = time.Minute

// event returns the time of the event, after fourteen days of history.
func event() time.Time { return time.Date(2026, 11, 18, 15, 0, 0, 0, time.UTC) }

// days returns all days.
func days() []day {
	return append(played(), inACluster()...)
}

func unavailable(time.Duration) error { return fmt.Errorf("%w: status 503", series.ErrUnavailable) }

// comesAndGoes is a source that does not answer for five minutes in every ten.
func comesAndGoes(after time.Duration) error {
	if after%(10*minute) < 5*minute {
		return unavailable(after)
	}
	return nil
}

// counted is a counter of one request each second.
func counted(after time.Duration, _ float64) float64 {
	return 1e6 + after.Seconds() + (14 * 24 * time.Hour).Seconds()
}

// until returns an error until a time after the event.
func until(end time.Duration, err func(time.Duration) error) func(time.Duration) error {
	return func(after time.Duration) error {
		if after >= end {
			return nil
		}
		return err(after)
	}
}

// times multiplies the demand by a factor for a time.
func times(factor float64, lasts time.Duration) func(time.Duration, float64) float64 {
	return func(after time.Duration, usual float64) float64 {
		if after >= 0 && after < lasts {
			return factor * usual
		}
		return usual
	}
}

const (
	notServed, suspect = "ForewarmForecastNotServed", "ForewarmDemandSuspect"
	data, signal       = "DataClean", "SignalPlausible"
	forEver            = 1000 * time.Hour
)

// played returns the days that are simulated here.
func played() []day {
	return slices.Concat(falseZeros(), sources(), starts(), downtimes(), wrongSignals(), levels(), wrongTargets(),
		loads(), weekends(), histories())
}
