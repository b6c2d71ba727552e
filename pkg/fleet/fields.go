package fleet

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fields are what a flag holds: name=value, separated by commas. Every name is one of those that are allowed and comes
// once.
func fields(text string, allowed ...string) (map[string]string, error) {
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

// positive is a number of more than 0, as a quantity of Kubernetes with a suffix of tens too: 4k is 4000.
func positive(name, text string) (float64, error) {
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
