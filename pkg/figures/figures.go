// Package figures writes the numbers of a comparison as people read them, alike in its sentences and in its tables.
package figures

import (
	"math"
	"strconv"
	"strings"
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
	return strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
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
