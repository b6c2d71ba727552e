package ticks

import (
	"math"
	"strconv"
	"strings"
)

// Number is four significant digits, never in exponents for what people watch: 0.125, 118.3, 4210, 12350000.
func Number(v float64) string {
	size := math.Abs(v)
	switch {
	case size == 0:
		return "0"
	case size >= 1e15 || size < 1e-4 || math.IsNaN(v):
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	digits := max(0, 3-int(math.Floor(math.Log10(size))))
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
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
