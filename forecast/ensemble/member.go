package ensemble

import (
	"cmp"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/interval"
)

// member is a candidate with its errors in the hold-out.
type member struct {
	model forecast.Model
	// fitted is the model of the whole series.
	fitted forecast.Fitted
	// mae is the mean absolute error over all origins and steps ahead, and worst is the largest absolute error.
	mae, worst float64
	// errs are the errors for each number of steps ahead, in the member's unit, minus their median, sorted.
	errs [][]float64
	// relative is true if errors are divided by the size of the forecast, and not by the level of the series.
	relative bool
	// independent is the number of independent errors for each number of steps ahead.
	independent []float64
	// level is the mean magnitude of the series.
	level float64
}

const (
	// maxOrigins bounds the number of origins in the hold-out.
	maxOrigins = 240
	// minErrors is the smallest number of errors from which quantiles are computed.
	minErrors = 40
	// fewIndependent is the number of independent errors that has the same weight as the model's own standard error.
	fewIndependent = 10
	// minUnit is the smallest unit, as a share of the mean level. Errors divided by a smaller unit would be huge.
	minUnit = 0.2
)

// score fits the model to the steps before the split, and forecasts from origins after it. It reports whether the model can
// be compared with others.
func (m *member) score(s forecast.Series, split, horizon int) bool {
	fitted, err := m.model.Fit(s.Slice(0, split))
	if err != nil {
		return false
	}
	every := (s.Len() - split + maxOrigins - 1) / maxOrigins // steps between two origins
	errs, points := make([][]float64, horizon), make([][]float64, horizon)
	path := make([]float64, horizon)
	n := 0.0
	for t := split; t < s.Len(); t++ {
		if (s.Len()-t)%every == 0 {
			fitted.PointsTo(path)
			for h, y := range s.Values[t:min(t+horizon, s.Len())] {
				if e := y - path[h]; !math.IsNaN(e) {
					n++
					m.mae += (math.Abs(e) - m.mae) / n
					m.worst = max(m.worst, math.Abs(e))
					errs[h], points[h] = append(errs[h], e), append(points[h], path[h])
				}
			}
		}
		fitted.Update(s.Values[t])
	}
	for h := range errs {
		m.independent = append(m.independent, float64(len(errs[h]))*min(1, float64(every)/float64(h+1)))
	}
	m.calibrate(errs, points)
	return n > 0 && m.mae < math.Inf(1)
}

// calibrate chooses the unit in which the quantiles of the errors have the smaller loss.
func (m *member) calibrate(errs, points [][]float64) {
	constant, relative := *m, *m
	relative.relative = true
	if relative.inUnits(errs, points) < constant.inUnits(errs, points) {
		*m = relative
	} else {
		*m = constant
	}
}

// inUnits converts the errors to the member's unit, and returns the pinball loss of their 5 % and 95 % quantiles (Koenker & Bassett 1978).
func (m *member) inUnits(errs, points [][]float64) (loss float64) {
	scaled := make([][]float64, len(errs))
	for h := range errs {
		for i, e := range errs[h] {
			scaled[h] = append(scaled[h], e/m.unit(points[h][i]))
		}
	}
	m.errs = pooled(scaled)
	for h := range errs {
		low, high := interval.Quantile(m.errs[h], 0.05), interval.Quantile(m.errs[h], 0.95)
		for i, e := range errs[h] {
			unit := m.unit(points[h][i])
			loss += max(0.05*(e-low*unit), -0.95*(e-low*unit)) + max(0.95*(e-high*unit), -0.05*(e-high*unit))
		}
	}
	return loss
}

// unit returns the divisor of an error: the level of the series, or the size of the forecast.
func (m *member) unit(point float64) float64 {
	u := m.level
	if m.relative {
		u = math.Max(math.Abs(point), minUnit*m.level)
	}
	return cmp.Or(u, 1)
}

// pooled returns the errors at each horizon, sorted. If there are fewer than minErrors, it adds the errors of neighboring horizons. It
// subtracts their median, because a forecast is the median of its distribution.
func pooled(errs [][]float64) [][]float64 {
	out := make([][]float64, len(errs))
	for h := range errs {
		low, high := h, h+1
		out[h] = slices.Clone(errs[h])
		for len(out[h]) < minErrors && high-low < len(errs) {
			if low > 0 {
				low--
				out[h] = append(out[h], errs[low]...)
			}
			if high < len(errs) {
				out[h] = append(out[h], errs[high]...)
				high++
			}
		}
		slices.Sort(out[h])
		median := interval.Quantile(out[h], 0.5)
		for i := range out[h] {
			out[h][i] -= median
		}
	}
	return out
}

// quantileOf returns the p-quantile of step i (from 0) of the member's forecast.
func (m *member) quantileOf(f forecast.Forecast, i int, p float64) float64 {
	own := f.QuantileAt(i, p)
	h := min(i, len(m.errs)-1)
	if h < 0 || len(m.errs[h]) < minErrors {
		return own
	}
	own = min(max(own, f.Point[i]-m.worst), f.Point[i]+m.worst)
	observed := f.Point[i] + m.unit(f.Point[i])*interval.Quantile(m.errs[h], p)
	return observed + fewIndependent/(fewIndependent+m.independent[h])*(own-observed)
}
