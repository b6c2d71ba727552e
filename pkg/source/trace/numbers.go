package trace

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// numbers reads the values of a column, one after the other.
type numbers struct {
	// separator is what separates columns; where it is no comma, a comma may be in a number.
	separator rune
	// decimal is what separates decimals, a point or a comma; empty if it is to be seen.
	decimal string
	// unit is that of the first value; the others have the same.
	unit  string
	known bool
	// grouped is the first value whose points may be of thousands; empty for none. decimals: some value has a point that cannot be.
	// whole is the largest value without a point.
	grouped  string
	decimals bool
	whole    float64
	// json: the file has no columns that separators separate.
	json bool
}

// isGap reports whether a text stands for no value.
func isGap(text string) bool {
	switch strings.ToLower(text) {
	case "", "nan", "null", "undefined", "na", "n/a", "#n/a", `\n`, "none", "nil", "-", "--":
		return true
	}
	return false
}

// isUnit reports whether a word is a unit of which a number is the same in every row. Grafana scales others: 900 ms, then 1.2 s.
func isUnit(text string) bool {
	return slices.Contains([]string{
		"req", "req/s", "reqps", "rps", "ops/s", "c/s", "requests", "requests/s", "tokens", "tokens/s",
	}, text)
}

// parse parses a demand: finite, not negative and at most the limit of a sample. What stands for no value is NaN.
func (n *numbers) parse(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if isGap(text) {
		return math.NaN(), nil
	}
	number, unit := text, ""
	if before, after, ok := strings.Cut(text, " "); ok && isUnit(after) {
		number, unit = before, after
	}
	number = withoutGroups(number)
	plain, odd := n.plain(number)
	if odd != "" {
		return 0, fmt.Errorf("value %q: with --decimal %s, every %s must be between groups of three digits",
			clip(text), n.decimal, odd)
	}
	v, err := strconv.ParseFloat(plain, 64)
	if err == nil && !strings.ContainsAny(number, ".,") {
		n.whole = max(n.whole, v)
	}
	switch {
	case errors.Is(err, strconv.ErrRange), v > series.MaxSample && !math.IsInf(v, 0):
		return 0, fmt.Errorf("value %s: too large for demand, which is at most %.0e; use a larger unit",
			clip(text), series.MaxSample)
	case err != nil && grouped.MatchString(number):
		return 0, fmt.Errorf("value %q: the comma or point may separate decimals or thousands: %s", clip(text),
			sayDecimal)
	case err != nil:
		return 0, fmt.Errorf("value %q: expected a number, or nothing for a gap; in Grafana, turn off Formatted "+
			"data to "+"export numbers without units (Inspect, Data, Data options)", clip(text))
	case math.IsInf(v, 0):
		return 0, fmt.Errorf("value %s: expected a finite number, or nothing for a gap", clip(text))
	case v < 0:
		return 0, fmt.Errorf("value %s: demand cannot be negative; if the value means that nothing is known, "+
			"make it a gap: %s", clip(text), n.withoutNegative())
	case n.known && unit != n.unit:
		return 0, fmt.Errorf("value %q: all values must have the same unit, and the unit of the first value is %q",
			clip(text), n.unit)
	}
	n.unit, n.known = unit, true
	return v, nil
}

// withoutNegative is the command that makes gaps of negative values.
func (n *numbers) withoutNegative() string {
	if n.json {
		return "with … >= 0 in the query, or null in the file"
	}
	digits := "0-9.eE+"
	if n.separator != ',' {
		digits += ","
	}
	return fmt.Sprintf(`sed -E 's/%[1]c *"?-[%[2]s-]+"?/%[1]c/g' %[3]s > load.csv`, n.separator, digits, FileName)
}

const sayDecimal = "set the decimal separator with --decimal , or --decimal ."

// grouped is a number with points, commas, apostrophes or spaces that may be of thousands.
var grouped = regexp.MustCompile(`^\d+([.,' ]\d+)+$`)

// thousands are digits in groups of three.
var thousands = regexp.MustCompile(`^[1-9]\d{0,2}(\.\d{3})+$`)

// spacedGroups is a number whose thousands are separated by apostrophes or spaces.
var spacedGroups = regexp.MustCompile(`^[-+]?\d{1,3}(?:['’ \x{a0}\x{2009}\x{202f}]\d{3})+(?:[.,]\d+)?$`)

// withoutGroups removes apostrophes and spaces between groups of three digits.
func withoutGroups(number string) string {
	if !utf8.ValidString(number) { // Windows-1252 has a space of one byte.
		number = strings.ReplaceAll(number, "\xa0", "\u00a0")
	}
	if !spacedGroups.MatchString(number) {
		return number
	}
	return strings.NewReplacer("'", "", "’", "", " ", "", "\u00a0", "", "\u2009", "", "\u202f", "").Replace(number)
}

// groupsOf matches whole numbers whose thousands are separated by points or commas, as in most countries or in India.
var groupsOf = map[string]*regexp.Regexp{ //nolint:gochecknoglobals // A constant table.
	".": regexp.MustCompile(`^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d{1,2}(?:\.\d{2})*\.\d{3})$`),
	",": regexp.MustCompile(`^[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3})$`),
}

// plain is a number with a decimal point and nothing else between its digits. odd is the separator of thousands that does not separate
// any, if the decimal separator is given.
func (n *numbers) plain(number string) (plain, odd string) {
	if n.decimal != "" {
		other := map[string]string{",": ".", ".": ","}[n.decimal]
		whole, fraction, _ := strings.Cut(number, n.decimal)
		if strings.Contains(whole, other) && !groupsOf[other].MatchString(whole) || strings.Contains(fraction, other) {
			return "", other
		}
		whole = strings.ReplaceAll(whole, other, "")
		if fraction == "" {
			return whole, ""
		}
		return whole + "." + fraction, ""
	}
	switch {
	case !strings.Contains(number, "."):
	case !thousands.MatchString(number):
		n.decimals = true
	case n.grouped == "":
		n.grouped = number
	}
	if n.separator == ',' {
		return number, ""
	}
	return decimalPoint(number), ""
}

// ambiguous is the error of a column whose points may all be of thousands, as spreadsheets in much of Europe write them.
func (n *numbers) ambiguous() error {
	// Next to commas a point is of decimals, unless numbers below a thousand have none.
	const thousand = 1000
	if n.grouped == "" || n.decimals || n.separator == ',' && (n.whole == 0 || n.whole >= thousand) {
		return nil
	}
	return fmt.Errorf("every point is followed by three digits, as in %s, so it may separate thousands or decimals: %s",
		n.grouped, sayDecimal)
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
