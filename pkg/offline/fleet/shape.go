package fleet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Shape is a kind of GPU and what a replica of the workload does with it.
type Shape struct {
	Name string
	// Price of a GPU for an hour, in dollars.
	Price float64
	// Capacity is what a replica on it sustains, in the metric's unit.
	Capacity float64
	// GPUs of a replica; a part of one is a fraction.
	GPUs float64
}

// ParseShape reads name=h100,price=3.06,capacity=1200,gpus=2. Without gpus a replica has one.
func ParseShape(text string) (Shape, error) {
	given, err := parseFields(text, "name", "price", "capacity", "gpus")
	if err != nil {
		return Shape{}, fmt.Errorf("shape %q: %w", text, err)
	}
	s := Shape{Name: given["name"], GPUs: 1}
	problems := []error{parseNumbers(given, number{name: "price", to: &s.Price},
		number{name: "capacity", to: &s.Capacity}, number{name: "gpus", to: &s.GPUs, optional: true})}
	if s.Name == "" {
		problems = append(problems, errors.New("no name is given"))
	}
	if err := errors.Join(problems...); err != nil {
		return Shape{}, fmt.Errorf("shape %q: %w; an example: name=h100,price=3.06,capacity=1200,gpus=2", text, err)
	}
	return s, nil
}

// Hourly is the price of a replica for an hour.
func (s Shape) Hourly() float64 { return s.GPUs * s.Price }

// ShapeResult is the result of a policy on a shape.
type ShapeResult struct {
	Shape

	// Policy that was played.
	Policy string
	// ReplicaHours are the replica-hours paid for, Limited the share of the demand that the objective limits.
	ReplicaHours, Limited float64
	// MeetsObjective is true if that share is within the objective.
	MeetsObjective bool
}

// GPUHours that were paid for.
func (t ShapeResult) GPUHours() float64 { return t.ReplicaHours * t.GPUs }

// Dollars that they cost.
func (t ShapeResult) Dollars() float64 { return t.GPUHours() * t.Price }

// Cheapest is the trial of a policy that meets the objective for the fewest dollars, and of equals the first; false where
// none meets it.
func Cheapest(trials []ShapeResult, policy string) (ShapeResult, bool) {
	var best ShapeResult
	found := false
	for _, t := range trials {
		if t.Policy == policy && t.MeetsObjective && (!found || t.Dollars() < best.Dollars()) {
			best, found = t, true
		}
	}
	return best, found
}

// parseFields are what a flag holds: name=value, separated by commas. Every name is one of those that are allowed and comes
// once.
func parseFields(text string, allowed ...string) (map[string]string, error) {
	out := make(map[string]string)
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !found || value == "":
			return nil, fmt.Errorf("%q has no value, want name=value", part)
		case !slices.Contains(allowed, name):
			return nil, fmt.Errorf("%q is unknown, want %s", name, strings.Join(allowed, ", "))
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		out[name] = value
	}
	return out, nil
}

// number is a numeric field and its destination. An optional one may be left out; zero allows 0.
type number struct {
	name           string
	to             *float64
	optional, zero bool
}

// parseNumbers reads those fields and returns every problem with them.
func parseNumbers(given map[string]string, all ...number) error {
	var problems []error
	for _, n := range all {
		value, there := given[n.name]
		switch {
		case !there && n.optional, n.zero && value == "0":
		case !there:
			problems = append(problems, fmt.Errorf("no %s is given", n.name))
		default:
			var err error
			*n.to, err = parsePositive(n.name, value)
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// parsePositive is a number of more than 0, as a quantity of Kubernetes with a suffix of tens too: 4k is 4000.
func parsePositive(name, text string) (float64, error) {
	number := text
	for _, suffix := range []struct{ text, exponent string }{{"m", "e-3"}, {"k", "e3"}, {"M", "e6"}, {"G", "e9"}} {
		if digits, found := strings.CutSuffix(text, suffix.text); found {
			number = digits + suffix.exponent
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s=%s, want a number of more than 0", name, text)
	}
	return v, nil
}
