// Package humanize writes numbers and durations as people read them, alike in sentences, tables, pages and on axes.
package humanize

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Unknown stands for a number that there is none of.
const Unknown = "-"

// Known says that a number is one.
func Known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Share is a share in hundredths, with the digits that tell a missed objective from a met one: 0.85%, 1.04%, 12.3%.
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

// Asked is a share as a user writes it: 1%, 0.5%.
func Asked(v float64) string {
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

// Number is four significant digits, never in exponents for what people watch: 0.125, 118.3, 4210, 12350000.
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
	return Digits(v, 4)
}

// Short abbreviates thousands: 250, 1500, 15k, 20M.
func Short(v float64) string {
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

// Digits has so many significant digits, and no exponent.
func Digits(v float64, n int) string {
	if !Known(v) {
		return Unknown
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	if err != nil {
		return Unknown
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Percent is a share in hundredths, to the tenth: 18.4%.
func Percent(share float64) string {
	if !Known(share) {
		return Unknown
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64) + "%"
}

// Late is a share of the demand in hundredths, two digits of it: 0.62%, 3.9%, 12%.
func Late(share float64) string {
	const least = 0.0001
	switch {
	case !Known(share):
		return Unknown
	case share > 0 && share < least:
		return "<0.01%"
	}
	return Digits(100*share, 2) + "%"
}

// Maybe is a number that may not be known, written as another function writes it.
func Maybe(v *float64, write func(float64) string) string {
	if v == nil {
		return Unknown
	}
	return write(*v)
}

// day is what a Span counts from two of them on.
const day = 24 * time.Hour

// Span is a duration in whole seconds without zeros at its end, in days from two of them on: 15s, 6m15s, 1h, 36h, 14d, 2d12h.
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

// Period is a length of time in its largest whole unit: 7 days, 26 hours, 40 minutes.
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
