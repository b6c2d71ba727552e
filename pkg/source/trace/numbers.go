package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// numbers reads the values of a column, one after the other.
type numbers struct {
	// separator is what separates columns; where it is no comma, a comma may be in a number.
	separator rune
	// unit is that of the first value; the others have the same.
	unit  string
	known bool
}

// parse parses a demand: finite, not negative and at most the limit of a sample. What stands for no value is NaN.
func (n *numbers) parse(text string) (float64, error) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "", "nan", "null", "undefined":
		return math.NaN(), nil
	}
	number, unit := text, ""
	// Of these units a number is the same in every row. Grafana scales others: 900 ms, then 1.2 s.
	if before, after, ok := strings.Cut(text, " "); ok && slices.Contains([]string{
		"req", "req/s", "reqps", "rps", "ops/s", "c/s", "requests", "requests/s", "tokens", "tokens/s",
	}, after) {
		number, unit = before, after
	}
	if n.separator != ',' {
		number = decimalPoint(number)
	}
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), v > series.MaxSample && !math.IsInf(v, 0):
		return 0, fmt.Errorf("value %s: too large for demand, which is at most %.0e; use a larger unit",
			clip(text), series.MaxSample)
	case err != nil && n.separator != ',' && strings.Contains(text, ","):
		return 0, fmt.Errorf("value %q: its comma may be of decimals or of thousands, want a decimal point and no "+
			"comma (tr , . < FILE replaces all commas)", clip(text))
	case err != nil:
		return 0, fmt.Errorf("value %q: want a number, or nothing for a gap; Grafana leaves units out where Formatted "+
			"data is off (Inspect, Data, Data options)", clip(text))
	case math.IsInf(v, 0):
		return 0, fmt.Errorf("value %s: want a finite number, or nothing for a gap", clip(text))
	case v < 0:
		return 0, fmt.Errorf("value %s: demand cannot be negative", clip(text))
	case n.known && unit != n.unit:
		return 0, fmt.Errorf("value %q: want the unit of the first value, %q, for all", clip(text), n.unit)
	}
	n.unit, n.known = unit, true
	return v, nil
}

// decimalPoint replaces a comma that can only be of decimals: of thousands three digits follow, and no 0 is alone before.
func decimalPoint(text string) string {
	const thousand = 3
	before, after, ok := strings.Cut(text, ",")
	if !ok || strings.ContainsAny(after, ",.") || strings.Contains(before, ".") ||
		len(after) == thousand && before != "0" {
		return text
	}
	return before + "." + after
}
