package fleet

import (
	"errors"
	"fmt"
	"time"
)

// Variant is another workload that serves a demand, beside the one that it was recorded of.
type Variant struct {
	Name string
	// Lead is how long a replica takes to start.
	Lead time.Duration
	// Price of a replica for an hour in dollars, 0 for that of the workload.
	Price float64
	// Capacity is what a replica sustains; 0 for what one of the workload does. Min and Max are its replicas.
	Capacity float64
	Min, Max int32
	// Interruptions is how often a replica is lost in an hour, as on spot.
	Interruptions float64
}

// mostReplicas of a variant where none is given.
const mostReplicas = 100_000

// ParseVariant reads name=spot,lead-time=5m,price=1.1,capacity=1200,min=0,max=20,interruptions=0.05. Only the name and the lead time are
// required.
func ParseVariant(text string) (Variant, error) {
	given, err := parseFields(text, "name", "lead-time", "price", "capacity", "min", "max", "interruptions")
	if err != nil {
		return Variant{}, fmt.Errorf("variant %q: %w", text, err)
	}
	out := Variant{Name: given["name"], Max: mostReplicas}
	least, most := 1.0, float64(mostReplicas)
	problems := []error{
		parseNumbers(
			given,
			number{name: "price", to: &out.Price, optional: true},
			number{
				name:     "capacity",
				to:       &out.Capacity,
				optional: true,
			},
			number{name: "min", to: &least, optional: true, zero: true},
			number{name: "max", to: &most, optional: true},
			number{name: "interruptions", to: &out.Interruptions, optional: true, zero: true},
		),
	}
	if given["min"] == "0" {
		least = 0
	}
	if out.Name == "" {
		problems = append(problems, errors.New("no name is given"))
	}
	if out.Lead, err = time.ParseDuration(given["lead-time"]); err != nil || out.Lead <= 0 || out.Lead > day {
		problems = append(
			problems,
			fmt.Errorf("lead-time %q is not above 0 and up to 24h, such as 5m", given["lead-time"]),
		)
	}
	if least > most || most > mostReplicas {
		problems = append(
			problems,
			fmt.Errorf("%v to %v replicas, want min at most max, and max at most %d", least, most, mostReplicas),
		)
	}
	if err := errors.Join(problems...); err != nil {
		const example = "name=spot,lead-time=5m,price=1.1,max=20,interruptions=0.05"
		return Variant{}, fmt.Errorf("variant %q: %w; an example: %s", text, err, example)
	}
	out.Min, out.Max = int32(least), int32(most)
	return out, nil
}

const day = 24 * time.Hour
