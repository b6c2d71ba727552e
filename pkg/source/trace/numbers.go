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

// numbers reads the values of a column one after the other.
type numbers struct {
	// separator separates columns. If it is not a comma, numbers may contain commas.
	separator rune
	// decimal is the decimal separator, a point or a comma; empty if it must be detected.
	decimal string
	// unit is the unit of the first value. All values must have the same unit.
	unit  string
	known bool
	// grouped is the first value whose points may separate thousands; empty if there is none. decimals is true if a value has a point that
	// cannot separate thousands. whole is the largest value without a point.
	grouped  string
	decimals bool
	whole    float64
	// json is true if the file does not separate columns with a separator.
	json bool
}

// isGap reports whether a text means that there is no value.
func isGap(text string) bool {
	switch strings.ToLower(text) {
	case "", "nan", "null", "undefined", "na", "n/a", "#n/a", `\n`, "none", "nil", "-", "--":
		return true
	}
	return false
}

// isUnit reports whether a word is a unit that does not vary from row to row. Grafana scales other units, for example 900 ms and then 1.2
// s.
func isUnit(text string) bool {
	return slices.Contains([]string{
		"req", "req/s", "reqps", "rps", "ops/s", "c/s", "requests", "requests/s", "tokens", "tokens/s",
	}, text)
}

// parse parses a demand. It must be finite, not negative, and at most the limit of a sample. A gap is NaN.
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

// withoutNegative returns a command that replaces negative values by gaps.
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

// grouped matches a number with points, commas, apostrophes or spaces that may separate thousands.
var grouped = regexp.MustCompile(`^\d+([.,' ]\d+)+$`)

// thousands matches digits in groups of three.
var thousands = regexp.MustCompile(`^[1-9]\d{0,2}(\.\d{3})+$`)

// spacedGroups matches a number whose thousands are separated by apostrophes or spaces.
var spacedGroups = regexp.MustCompile(`^[-+]?\d{1,3}(?:['’ \x{a0}\x{2009}\x{202f}]\d{3})+(?:[.,]\d+)?$`)

// withoutGroups removes apostrophes and spaces between groups of three digits.
func withoutGroups(number string) string {
	if !utf8.ValidString(number) { // In Windows-1252, one kind of space is a single byte.
		number = strings.ReplaceAll(number, "\xa0", "\u00a0")
	}
	if !spacedGroups.MatchString(number) {
		return number
	}
	return strings.NewReplacer("'", "", "’", "", " ", "", "\u00a0", "", "\u2009", "", "\u202f", "").Replace(number)
}

// groupsOf matches integers whose thousands are separated by points or commas, in groups as in most countries or as in India.
var groupsOf = map[string]*regexp.Regexp{ //nolint:gochecknoglobals // A constant table.
	".": regexp.MustCompile(`^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d{1,2}(?:\.\d{2})*\.\d{3})$`),
	",": regexp.MustCompile(`^[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3})$`),
}

// plain returns a number with a decimal point and no other separators. If the decimal separator is given, odd is a thousands separator at a
// place where it does not separate thousands.
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

// ambiguous returns an error if all points in a column may separate thousands, as in spreadsheets in much of Europe.
func (n *numbers) ambiguous() error {
	// If commas separate the columns, points are decimal points, unless there are no decimals in numbers below a thousand.
	const thousand = 1000
	if n.grouped == "" || n.decimals || n.separator == ',' && (n.whole == 0 || n.whole >= thousand) {
		return nil
	}
	return fmt.Errorf("every point is followed by three digits, as in %s, so it may separate thousands or decimals: %s",
		n.grouped, sayDecimal)
}

// decimalPoint replaces a comma that can only be a decimal separator. A comma between thousands is followed by three digits, and is not
// preceded by a single 0.
func decimalPoint(text string) string {
	const thousand = 3
	before, after, ok := strings.Cut(text, ",")
	if !ok || strings.ContainsAny(after, ",.") || strings.Contains(before, ".") ||
		len(after) == thousand && before != "0" {
		return text
	}
	return before + "." + after
}
