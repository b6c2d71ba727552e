// Package humanize formats numbers and durations for people, the same way in sentences, tables, pages and on axes.
package humanize

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Unknown stands for an unknown number.
const Unknown = "-"

// Known reports whether a number is finite.
func Known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Share is a share in percent, with enough digits to compare it with an objective: 0.85%, 1.04%, 12.3%.
func Share(v float64) string {
	const least = 0.0001
	switch {
	case !Known(v):
		return Unknown
	case v > 0 && v < least:
		return "<0.01%"
	case v == 0:
		return "0%"
	case v < 0.1:
		return strconv.FormatFloat(100*v, 'f', 2, 64) + "%"
	}
	return Percent(v)
}

// ShareAsWritten is a share as a user writes it: 1%, 0.5%.
func ShareAsWritten(v float64) string {
	if !Known(v) {
		return Unknown
	}
	return strconv.FormatFloat(100*v, 'g', 4, 64) + "%"
}

// Amount is a number of hours or dollars: 31.4, 812, 12,345.
func Amount(v float64) string {
	switch {
	case !Known(v):
		return Unknown
	case math.Abs(v) < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return grouped(strconv.FormatFloat(v, 'f', 0, 64))
}

// Count is a whole number: 12,345.
func Count(n int) string { return grouped(strconv.Itoa(n)) }

// Plural is a number of things: 1 GPU, 12,345 GPUs.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

// List is an enumeration in a sentence: a, b and c.
func List(parts []string) string {
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}

// grouped separates thousands.
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

// Number has four significant digits, and no exponent below 1e15: 0.125, 118.3, 4210, 12350000.
func Number(v float64) string {
	size := math.Abs(v)
	switch {
	case !Known(v):
		return Unknown
	case size >= 1e15:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case size >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return Significant(v, 4)
}

// Abbreviated abbreviates thousands: 250, 1500, 15k, 20M.
func Abbreviated(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= 10*unit.size || (v >= unit.size && unit.size > 1e3) {
			return Number(v/unit.size) + unit.name
		}
	}
	return Number(v)
}

// Significant has so many significant digits, and no exponent.
func Significant(v float64, n int) string {
	if !Known(v) {
		return Unknown
	}
	return strconv.FormatFloat(Rounded(v, n), 'f', -1, 64)
}

// Rounded is a number with so many significant digits.
func Rounded(v float64, n int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

// Percent is a share in percent with one decimal: 18.4%.
func Percent(share float64) string {
	if !Known(share) {
		return Unknown
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64) + "%"
}

// LateShare is a share of the demand in percent with two significant digits: 0.62%, 3.9%, 12%.
func LateShare(share float64) string {
	const least = 0.0001
	switch {
	case !Known(share):
		return Unknown
	case share > 0 && share < least:
		return "<0.01%"
	}
	return Significant(100*share, 2) + "%"
}

// Optional formats a number that may be nil.
func Optional(v *float64, write func(float64) string) string {
	if v == nil {
		return Unknown
	}
	return write(*v)
}

// day is the unit of a Span of two days and more.
const day = 24 * time.Hour

// Span is a duration in whole seconds without trailing zeros, with days from two days on: 15s, 6m15s, 1h, 36h, 14d,
// 2d12h.
func Span(d time.Duration) string {
	if d >= time.Second {
		d = d.Round(time.Second)
	}
	text := ""
	if days := d / day; days > 1 {
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

// Period is a duration in its largest whole unit: 7 days, 26 hours, 40 minutes.
func Period(d time.Duration) string {
	count := func(unit time.Duration, name string) string {
		if n := int(d.Round(unit) / unit); n != 1 {
			return strconv.Itoa(n) + " " + name + "s"
		}
		return name
	}
	switch {
	case d >= 2*day:
		return count(day, "day")
	case d >= 2*time.Hour:
		return count(time.Hour, "hour")
	}
	return count(time.Minute, "minute")
}
