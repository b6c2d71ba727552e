package fleet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

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
