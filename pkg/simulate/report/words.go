package report

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/forewarm/forewarm/pkg/simulate/compare"
	"github.com/forewarm/forewarm/pkg/ticks"
)

// unknown stands for a number that there is none of.
const unknown = "-"

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
	if !finite(v) {
		return unknown
	}
	return ticks.Number(v)
}

// share is in hundredths, with the digits that tell a missed objective from a met one: 0.85%, 1.04%, 12.3%.
func share(v float64) string {
	const least = 0.0001
	switch {
	case !finite(v):
		return unknown
	case v > 0 && v < least:
		return "<0.01%"
	case v == 0:
		return "0%"
	case v < 0.1:
		return strconv.FormatFloat(100*v, 'f', 2, 64) + "%"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
}

// asked is a share as a user writes it: 1%, 0.5%.
func asked(v float64) string {
	if !finite(v) {
		return unknown
	}
	return strconv.FormatFloat(100*v, 'g', 4, 64) + "%"
}

// amount is a number of hours or dollars: 31.4, 812, 12,345.
func amount(v float64) string {
	switch {
	case !finite(v):
		return unknown
	case math.Abs(v) < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return grouped(strconv.FormatFloat(v, 'f', 0, 64))
}

// grouped sets thousands apart.
func grouped(digits string) string {
	var out strings.Builder
	for i, d := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return out.String()
}

// minutes has a tenth of one; a dash where none are known.
func minutes(d time.Duration) string {
	if d == 0 {
		return unknown
	}
	return strconv.FormatFloat(d.Minutes(), 'f', 1, 64)
}

// decimal is a number with so many digits after its point.
func decimal(v float64, digits int) string {
	if !finite(v) {
		return unknown
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
