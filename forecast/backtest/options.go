package backtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Options configure a backtest: the origins, and what is scored at each.
type Options struct {
	// Horizons are the steps ahead that are scored, 1 or more each.
	Horizons []int
	// Quantiles are the levels that are scored, each between 0 and 1. Levels p and 1−p are scored as an interval too.
	// May be empty.
	Quantiles []float64
	// First is the first origin: how many values the first fit sees, 1 or more.
	First int
	// Stride is the distance from origin to origin in steps; 0 means 1.
	Stride int
	// Refit is the distance from fit to fit in steps, rounded down to whole strides; 0 means that the first fit is used
	// to the end, with Updates only.
	Refit int
	// Window is the most values that a fit sees, the newest ones; 0 means all.
	Window int
	// Period is the season that scales MASE; 0 or 1 means none.
	Period int
	// Each calls fold(0) … fold(n−1), in any order and possibly at once, and returns when all are done. Nil means one
	// after the other. Concurrent folds need models whose Fit is safe for concurrent use; those of this library are.
	Each func(n int, fold func(i int))
}

// Validate returns all that is wrong, wrapping forecast.ErrParameter.
func (o Options) Validate() error {
	var problems []error
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("backtest: "+format+": %w", append(args, forecast.ErrParameter)...))
	}
	if len(o.Horizons) == 0 {
		wrong("no horizon")
	}
	for _, h := range o.Horizons {
		if h < 1 {
			wrong("horizon %d, want 1 or more", h)
		}
	}
	for _, p := range o.Quantiles {
		if !(p > 0 && p < 1) {
			wrong("quantile %v, want it between 0 and 1", p)
		}
	}
	if o.First < 1 {
		wrong("first origin %d, want 1 or more", o.First)
	}
	for _, field := range []struct {
		name  string
		value int
	}{{"stride", o.Stride}, {"refit", o.Refit}, {"window", o.Window}, {"period", o.Period}} {
		if field.value < 0 {
			wrong("%s %d, want 0 or more", field.name, field.value)
		}
	}
	return errors.Join(problems...)
}

// grid is where the origins of a series lie. An origin is the number of values that came before it.
type grid struct {
	first, stride, origins int
	// perFold is the number of origins from fit to fit.
	perFold int
}

// grid keeps every horizon's value within the series, so that all horizons are scored on the same origins.
func (o Options) grid(n int) (grid, error) {
	room := n - slices.Max(o.Horizons) - o.First
	if room < 0 {
		return grid{}, fmt.Errorf("backtest: %d values, want %d before the first origin and %d after it: %w",
			n, o.First, slices.Max(o.Horizons), forecast.ErrTooShort)
	}
	g := grid{first: o.First, stride: max(o.Stride, 1)}
	g.origins = room/g.stride + 1
	g.perFold = g.origins
	if o.Refit > 0 {
		g.perFold = min(max(o.Refit/g.stride, 1), g.origins)
	}
	return g, nil
}

func (g grid) folds() int { return (g.origins + g.perFold - 1) / g.perFold }

// origin is the i-th origin.
func (g grid) origin(i int) int { return g.first + i*g.stride }
