package report

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/forewarm/forewarm/pkg/simulate/compare"
	"github.com/forewarm/forewarm/pkg/simulate/figures"
	"github.com/forewarm/forewarm/pkg/ticks"
)

// capacity is the assumption that all figures rest on, in a line.
func capacity(a *compare.Assumptions) string {
	if a.CapacityAssumed {
		return "Assumed: a replica sustains " + figure(a.Capacity) +
			", the autoscaler's own target, as no capacity was given. Every figure rests on it."
	}
	return "A replica sustains " + figure(a.Capacity) + ", as given; the autoscaler's target is " +
		figure(a.Target) + "."
}

// figure is a number of four digits.
func figure(v float64) string {
	if !figures.Known(v) {
		return figures.Unknown
	}
	return ticks.Number(v)
}

// minutes has a tenth of one; a dash where none are known.
func minutes(d time.Duration) string {
	if d == 0 {
		return figures.Unknown
	}
	return strconv.FormatFloat(d.Minutes(), 'f', 1, 64)
}

// decimal is a number with so many digits after its point.
func decimal(v float64, digits int) string {
	if !figures.Known(v) {
		return figures.Unknown
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// span is a duration in the units that people count it in: 14d, 2d12h, 5m, 15s.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	text := ""
	if days := d / day; days > 0 {
		text, d = strconv.FormatInt(int64(days), 10)+"d", d%day
	}
	if d == 0 && text != "" {
		return text
	}
	rest := d.String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return text + rest
}

// period is from the first day of a history to its last.
func period(a *compare.Assumptions) string {
	const day = "2 January 2006"
	return a.Start.UTC().Format(day) + " to " + a.Start.Add(a.Duration).UTC().Format(day)
}

// plain is text without what would drive a terminal, hide the text or break a line.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
