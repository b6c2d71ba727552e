package dashboardtest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// All is the choice of every value of a variable.
const All = "$__all"

// Choice is what the reader has chosen: the values of each variable, and the time range.
type Choice struct {
	Values map[string][]string
	Range  time.Duration
	// RateInterval is four scrape intervals, as Grafana has it.
	RateInterval time.Duration
}

// Escape is how a version of Grafana writes a value into a regular expression within double quotes.
type Escape func(string) string

var (
	special        = regexp.MustCompile(`[$^*{}\[\]'+?.()|]`)
	specialClassic = regexp.MustCompile(`[$^*{}\[\]+?.()|]`)
)

// EscapeQuotes is Grafana's prometheusSpecialRegexEscape.
func EscapeQuotes(value string) string {
	value = strings.ReplaceAll(value, `\`, `\\\\`)
	value = strings.ReplaceAll(value, `"`, `\\\"`)
	return special.ReplaceAllString(value, `\\$0`)
}

// EscapeClassic is the same before Grafana knew prometheusSpecialCharsInLabelValues: a quote is not escaped.
func EscapeClassic(value string) string {
	return specialClassic.ReplaceAllString(strings.ReplaceAll(value, `\`, `\\\\`), `\\$0`)
}

var reference = regexp.MustCompile(`\$\{(\w+)\}|\$(\w+)`)

// Interpolate puts the choice into an expression. It fails for a variable that the dashboard does not have.
func (d *Dashboard) Interpolate(expr string, c Choice, escape Escape) (string, error) {
	var unknown []string
	out := reference.ReplaceAllStringFunc(expr, func(found string) string {
		name := strings.Trim(found, "${}")
		switch name {
		case "__rate_interval":
			return seconds(c.RateInterval)
		case "__range":
			return seconds(c.Range)
		}
		for i := range d.Templating.List {
			if v := &d.Templating.List[i]; v.Name == name {
				return v.write(c.Values[name], escape)
			}
		}
		unknown = append(unknown, name)
		return found
	})
	if len(unknown) > 0 {
		return "", fmt.Errorf("%s has no variable %v, in %s", d.Title, unknown, expr)
	}
	return out, nil
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 0, 64) + "s" }

// write returns the text that the chosen values have in a query.
func (v *Variable) write(chosen []string, escape Escape) string {
	if len(chosen) == 1 && chosen[0] == All && v.AllValue != "" {
		return v.AllValue
	}
	if !v.Multi && !v.IncludeAll {
		value := strings.ReplaceAll(strings.Join(chosen, ""), `\`, `\\`)
		return strings.ReplaceAll(value, `"`, `\"`)
	}
	escaped := make([]string, 0, len(chosen))
	for _, value := range chosen {
		escaped = append(escaped, escape(value))
	}
	if len(escaped) == 1 {
		return escaped[0]
	}
	return "(" + strings.Join(escaped, "|") + ")"
}

var (
	labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	queryResult = regexp.MustCompile(`^query_result\((.+)\)$`)
)

// Options are the values among which a reader chooses. The choice has those of the variables before.
func (d *Dashboard) Options(ctx context.Context, v *Variable, s *Store, c Choice, at time.Time) ([]string, error) {
	if v.Type == "custom" {
		return strings.Split(v.Query, ","), nil
	}
	query, err := d.Interpolate(v.Query, c, EscapeQuotes)
	if err != nil {
		return nil, err
	}
	var out []string
	if found := labelValues.FindStringSubmatch(query); found != nil {
		vector, wrong := s.Instant(ctx, found[1], at)
		if wrong != nil {
			return nil, wrong
		}
		for _, sample := range vector {
			out = append(out, sample.Metric.Get(found[2]))
		}
	} else if found := queryResult.FindStringSubmatch(query); found != nil {
		if out, err = d.results(ctx, v, s, found[1], at); err != nil {
			return nil, err
		}
	} else {
		return nil, fmt.Errorf("variable %s of %s: %q is no query that is known", v.Name, d.Title, query)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	const numerical = 3
	if v.Sort == numerical {
		slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	}
	return out, nil
}

// results returns the texts that the variable's regular expression captures from the series.
func (*Dashboard) results(ctx context.Context, v *Variable, s *Store, expr string, at time.Time) ([]string, error) {
	pattern, err := regexp.Compile(strings.Trim(v.Regex, "/"))
	if err != nil {
		return nil, fmt.Errorf("variable %s: %w", v.Name, err)
	}
	vector, err := s.Instant(ctx, expr, at)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, sample := range vector {
		if found := pattern.FindStringSubmatch(
			fmt.Sprintf("%s %g %d", sample.Metric, sample.F, sample.T),
		); found != nil {
			out = append(out, found[1])
		}
	}
	return out, nil
}

func number(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return value
}
