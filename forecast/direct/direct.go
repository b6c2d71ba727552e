package direct

import (
	"cmp"
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
	"github.com/forewarm/forewarm/forecast/quantreg"
)

// Direct is a median regression for every one of a few horizons. The zero Direct is usable.
type Direct struct {
	// Horizon is the last step that has a regression of its own, 0 means 15. Those before it that have one are 1, 5, 10, 15,
	// 30, 60 and so on; forecasts of the steps between are interpolated, those beyond are that of the last.
	Horizon int
	// HalfLife is after how many steps an observation counts for half as much in the estimate, 0 means 1440.
	HalfLife float64
	// Penalty is the ridge, as a share of each regressor's moment; 0 means 0.05. It draws the forecast to the last value.
	Penalty float64
}

const (
	defaultHorizon  = 15
	defaultHalfLife = 1440
	defaultPenalty  = 0.05
	// lives is how many half-lives of the series are looked at: older observations count for next to nothing.
	lives = 4
	// mostRows is how many rows a regression is fitted on at most; of more, every second or third is taken.
	mostRows = 3000
	// fewestRows are needed for a fit.
	fewestRows = 4 * width
	passes     = 6
)

var _ forecast.Model = Direct{}

// Name is "Direct median regression".
func (m Direct) Name() string { return "Direct median regression" }

// Fit wants 16 observations more than the last horizon. Errors: forecast.ErrParameter, forecast.ErrTooShort,
// forecast.ErrNotFinite.
func (m Direct) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Estimate(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type.
func (m Direct) Estimate(s forecast.Series) (*Fitted, error) {
	m.HalfLife, m.Penalty = cmp.Or(m.HalfLife, defaultHalfLife), cmp.Or(m.Penalty, defaultPenalty)
	if err := units.Check(s, 2); err != nil {
		return nil, err
	}
	f := &Fitted{
		horizons: anchors(cmp.Or(m.Horizon, defaultHorizon)), scale: units.Scale(s.Values), next: s.End(), step: s.Step,
		smallest: math.Inf(1), largest: math.Inf(-1),
	}
	from := max(0, s.Len()-int(lives*m.HalfLife))
	rows := make([]float64, 0, (s.Len()-from)*width)
	z := make([]float64, 0, s.Len()-from)
	for i, y := range s.Values {
		f.observe(y)
		if i >= from {
			rows = append(rows, make([]float64, width)...)
			z = append(z, math.NaN())
			if !math.IsNaN(y) {
				z[i-from] = f.memory.last
				f.memory.rowTo(rows[len(rows)-width:])
			}
		}
	}
	for _, h := range f.horizons {
		c, err := m.regress(rows, z, h)
		if err != nil {
			return nil, err
		}
		f.lines = append(f.lines, c)
	}
	return f, nil
}

// line is the regression of a horizon, and the deviation of its errors.
type line struct {
	weights   [width]float64
	deviation float64
}

func (m Direct) regress(rows, z []float64, h int) (line, error) {
	var r quantreg.Rows
	stride := 1 + len(z)/mostRows
	for i := len(z) - 1 - h; i >= 0; i -= stride {
		change := z[i+h] - z[i]
		if math.IsNaN(change) {
			continue
		}
		r.X = append(r.X, rows[i*width:(i+1)*width]...)
		r.Y = append(r.Y, change)
		r.Weights = append(r.Weights, math.Exp2(-float64(len(z)-1-i)/m.HalfLife))
	}
	if len(r.Y) < fewestRows {
		return line{}, fmt.Errorf("%d rows: %w", len(r.Y), forecast.ErrTooShort)
	}
	c, err := quantreg.Regression{Level: 0.5, Penalty: m.Penalty, Passes: passes, Epsilon: Eps * meanAbs(r.Y)}.Fit(r)
	if err != nil {
		return line{}, err
	}
	out := line{weights: [width]float64(c)}
	sum, total := 0.0, 0.0
	for i, y := range r.Y {
		e := y - c.At(r.X[i*width:(i+1)*width])
		sum += r.Weights[i] * e * e
		total += r.Weights[i]
	}
	out.deviation = math.Sqrt(sum / total)
	return out, nil
}

var Eps = 0.02

func meanAbs(y []float64) float64 {
	s := 0.0
	for _, v := range y {
		s += math.Abs(v)
	}
	return s / float64(len(y))
}

// anchors are the horizons up to the last one that have a regression.
func anchors(last int) []int {
	var out []int
	for _, h := range []int{1, 5, 10} {
		if h < last {
			out = append(out, h)
		}
	}
	for h := 15; h < last; h *= 2 {
		out = append(out, h)
	}
	return append(out, last)
}
