package shape

import (
	"fmt"
	"slices"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// Prior is what is known of the regressions before a workload has shown anything: what was learnt on others.
type Prior struct {
	// Columns are the features' names.
	Columns []string
	// Median and Upper are the priors of the two regressions, with the precision of one row.
	Median, Upper quantreg.Prior
}

// Naive is the prior that knows the last value alone: the median is what is now, the upper quantile a few of the moves
// that were seen.
func Naive(columns []string) Prior {
	out := Prior{Columns: columns}
	for _, p := range []*quantreg.Prior{&out.Median, &out.Upper} {
		p.Mean = make([]float64, len(columns))
		p.Precision = make([]float64, len(columns)*len(columns))
		for i := range columns {
			p.Precision[i*len(columns)+i] = 1
		}
	}
	if now := slices.Index(columns, "now"); now >= 0 {
		out.Median.Mean[now], out.Upper.Mean[now] = 1, 1
	}
	if moves := slices.Index(columns, "moves"); moves >= 0 {
		out.Upper.Mean[moves] = 3
	}
	return out
}

// For is the prior with the columns given, in their order: those that it lacks are drawn to 0, with the precision of the
// demand itself, those that are not asked for are left out.
func (p Prior) For(columns []string) Prior {
	if slices.Equal(p.Columns, columns) {
		return p
	}
	out := Prior{Columns: columns}
	out.Median, out.Upper = p.pick(p.Median, columns), p.pick(p.Upper, columns)
	return out
}

func (p Prior) pick(from quantreg.Prior, columns []string) quantreg.Prior {
	n, width := len(columns), len(p.Columns)
	out := quantreg.Prior{Mean: make([]float64, n), Precision: make([]float64, n*n)}
	now := slices.Index(p.Columns, "now")
	for i, name := range columns {
		a := slices.Index(p.Columns, name)
		if a < 0 {
			if now >= 0 {
				out.Precision[i*n+i] = from.Precision[now*width+now]
			}
			continue
		}
		out.Mean[i] = from.Mean[a]
		for j, other := range columns {
			if b := slices.Index(p.Columns, other); b >= 0 {
				out.Precision[i*n+j] = from.Precision[a*width+b]
			}
		}
	}
	return out
}

// Pool fits a prior to rows of several workloads, each divided by its level, and weighed so that no family of them rules.
func Pool(columns []string, data quantreg.Rows) (Prior, error) {
	out := Prior{Columns: columns}
	for _, fit := range []struct {
		level float64
		to    *quantreg.Prior
	}{{median, &out.Median}, {upper, &out.Upper}} {
		start := Naive(columns)
		regression := quantreg.Regression{Level: fit.level, Epsilon: epsilon, Passes: 20, Start: start.Median.Mean}
		c, err := regression.Fit(data)
		if err != nil {
			return Prior{}, fmt.Errorf("prior: %w", err)
		}
		precision, err := regression.Precision(data, c)
		if err != nil {
			return Prior{}, fmt.Errorf("prior: %w", err)
		}
		*fit.to = quantreg.Prior{Mean: c, Precision: precision}
	}
	return out, nil
}
