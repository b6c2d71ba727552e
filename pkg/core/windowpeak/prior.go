package windowpeak

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// Prior is the prior of the pooled regression, fitted to other workloads.
type Prior struct {
	// Columns are the features' names.
	Columns []string
	// Median and Upper are the priors of the two regressions, with the precision of one row.
	Median, Upper quantreg.Prior
}

// NaivePrior forecasts the last value; the upper quantile is three times the volatility above it.
func NaivePrior(columns []string) Prior {
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
	if volatility := slices.Index(columns, "volatility"); volatility >= 0 {
		out.Upper.Mean[volatility] = 3
	}
	return out
}

// forColumns returns the prior with the given columns, in their order. A column that the prior lacks gets the mean 0 and the precision of
// the present demand. Columns that are not given are removed (see without).
func (p Prior) forColumns(columns []string) Prior {
	if slices.Equal(p.Columns, columns) {
		return p
	}
	for _, name := range p.Columns {
		if !slices.Contains(columns, name) {
			p = p.without(name)
		}
	}
	out := Prior{Columns: columns}
	out.Median, out.Upper = p.pick(p.Median, columns), p.pick(p.Upper, columns)
	return out
}

// without returns the prior without a column: the distribution of the other coefficients, given that the column's coefficient is 0. For a
// Gaussian, the mean of the other coefficients is then m + Λ⁻¹λ·m₀. Here, m and Λ are the mean and the precision of the other coefficients,
// m₀ is the mean of the column's coefficient, and λ is its precision with the others.
func (p Prior) without(column string) Prior {
	at := slices.Index(p.Columns, column)
	if at < 0 {
		return p
	}
	return Prior{
		Columns: slices.Delete(slices.Clone(p.Columns), at, at+1),
		Median:  without(p.Median, at), Upper: without(p.Upper, at),
	}
}

func without(from quantreg.Prior, at int) quantreg.Prior {
	width := len(from.Mean)
	n := width - 1
	out := quantreg.Prior{Mean: slices.Delete(slices.Clone(from.Mean), at, at+1), Precision: make([]float64, 0, n*n)}
	coupled := mat.NewVecDense(n, nil)
	for i := range width {
		if i == at {
			continue
		}
		row := from.Precision[i*width : (i+1)*width]
		coupled.SetVec(len(out.Precision)/n, row[at]*from.Mean[at])
		out.Precision = append(append(out.Precision, row[:at]...), row[at+1:]...)
	}
	var factor mat.Cholesky
	var shift mat.VecDense
	if !factor.Factorize(mat.NewSymDense(n, out.Precision)) || factor.SolveVecTo(&shift, coupled) != nil {
		return out // Some column has almost no precision, so the other columns keep their mean.
	}
	for i := range out.Mean {
		out.Mean[i] += shift.AtVec(i)
	}
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

// FitPrior fits a prior to rows of several workloads, each divided by its level, with weights that balance their families.
func FitPrior(columns []string, data quantreg.Rows) (Prior, error) {
	out := Prior{Columns: columns}
	for _, fit := range []struct {
		level float64
		to    *quantreg.Prior
	}{{medianLevel, &out.Median}, {upperLevel, &out.Upper}} {
		start := NaivePrior(columns)
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

// priorFolder is the folder with a package's built-in priors. Each prior is a JSON file.
const priorFolder = "priors"

// ReadPriors returns the content of every file of the folder priors, in the order of their names.
func ReadPriors[T any](files fs.ReadFileFS) ([]T, error) {
	entries, err := fs.ReadDir(files, priorFolder)
	if err != nil {
		return nil, fmt.Errorf("built-in priors: %w", err)
	}
	out := make([]T, len(entries))
	for i, entry := range entries {
		text, err := files.ReadFile(path.Join(priorFolder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("built-in priors: %w", err)
		}
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, fmt.Errorf("built-in prior %s: %w", entry.Name(), err)
		}
	}
	return out, nil
}
