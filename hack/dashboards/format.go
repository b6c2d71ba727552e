package main

import (
	"math"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/hack/dashboardtest"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// formatted is a value in the panel's unit.
func formatted(v float64, p *dashboardtest.Panel) string {
	d := p.FieldConfig.Defaults
	digits := 3
	if d.Decimals != nil {
		digits = -1
	}
	number := func(v float64) string {
		if math.Abs(v) < 1e-9 {
			v = 0 // Not -0.
		}
		if digits < 0 {
			return strconv.FormatFloat(v, 'f', *d.Decimals, 64)
		}
		return humanize.Significant(v, digits)
	}
	switch d.Unit {
	case "percentunit":
		return number(100*v) + " %"
	case "s":
		switch {
		case v < 1:
			return number(1000*v) + " ms"
		case v < 60:
			return number(v) + " s"
		case v < 3600:
			return humanize.Span(time.Duration(v * float64(time.Second)).Round(time.Second))
		case v < 24*3600:
			return number(v/3600) + " h"
		}
		return number(v/(24*3600)) + " d"
	case "bytes":
		if v >= 1<<30 {
			return number(v/(1<<30)) + " GiB"
		}
		return number(v/(1<<20)) + " MiB"
	case "reqps":
		return number(v) + " req/s"
	case "ops":
		return number(v) + " ops/s"
	}
	return number(v)
}
