package arima

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// logSum sums logarithms as logarithms of products, which needs only one logarithm for many terms.
type logSum struct{ sum, product float64 }

func (l *logSum) add(v float64) {
	l.product *= v
	if l.product > 1e150 {
		l.sum, l.product = l.total(), 1
	}
}

func (l *logSum) total() float64 { return l.sum + math.Log(l.product) }

// whitener converts series without gaps to their innovations, divided by their deviations. After the start, during which the gain changes
// from step to step, an innovation costs as many multiplications as the polynomials have terms.
type whitener struct {
	gain
	// pending[i][t] is the forecast so far of step t of series i.
	pending [][]float64
	// room is scratch memory for a series, after as many zeros as the moving average reaches back.
	room []float64
}

func newWhitener(p *process, series, n int) *whitener {
	w := &whitener{gain: newGain(p), pending: make([][]float64, series), room: make([]float64, p.ma.degree()+n)}
	for i := range w.pending {
		w.pending[i] = make([]float64, n+p.reach+1)
	}
	return w
}

// exact writes the innovations of the series to out, each divided by its deviation, and returns the sum of the logarithms of their
// variances.
func (w *whitener) exact(series, out [][]float64) float64 {
	for _, pending := range w.pending {
		clear(pending)
	}
	logs := logSum{product: 1}
	w.begin()
	n, t := len(series[0]), 0
	for ; t < n && !w.steady; t++ {
		deviation := math.Sqrt(w.variance)
		for i, values := range series {
			pending := w.pending[i][t:]
			surprise := values[t] - pending[0]
			out[i][t] = surprise / deviation
			for j, lag := range w.ar.lags {
				pending[lag] -= w.ar.coef[j] * pending[0]
			}
			floats.AddScaled(pending[1:1+w.reach], surprise/w.variance, w.with)
		}
		logs.add(w.variance)
		w.advance()
	}
	for i, values := range series {
		w.glide(values, w.pending[i], out[i], t)
	}
	return logs.total()
}

// conditional is like exact, but assumes that the series was 0 before its start, as far as the polynomials reach back (Box & Jenkins 1976).
// On a long series, the result is almost the same, at a fraction of the cost.
func (w *whitener) conditional(series, out [][]float64) {
	for i, values := range series {
		w.glide(values, nil, out[i], 0)
	}
}

// glide writes the innovations from step t on, after which the gain no longer changes.
func (w *whitener) glide(values, pending, out []float64, t int) {
	values, out = values[t:], out[t:]
	wide := w.ma.degree()
	clear(w.room[:wide])
	padded := w.room[:wide+len(values)]
	z := padded[wide:]
	copy(z, values)
	if pending != nil {
		floats.Sub(z[:min(w.reach, len(z))], pending[t:t+min(w.reach, len(z))])
	}
	for i, lag := range w.ar.lags {
		if lag < len(z) {
			floats.AddScaled(z[lag:], w.ar.coef[i], values[:len(z)-lag])
		}
	}
	if len(w.ma.lags) > 0 {
		w.unwind(padded)
	}
	copy(out, z)
}

// unwind divides by the moving average: ε(t) = z(t) − Σ θ(k)·ε(t−k), in place behind the zeros.
func (w *whitener) unwind(padded []float64) {
	lags, coef := w.ma.lags, w.ma.coef[:len(w.ma.lags)]
	if lags[0] == 1 {
		w.unwindFirst(padded)
		return
	}
	for t := w.ma.degree(); t < len(padded); t++ {
		v := padded[t]
		for i, lag := range lags {
			v -= coef[i] * padded[t-lag]
		}
		padded[t] = v
	}
}

// unwindFirst is unwind for a moving average with a term at lag 1. It keeps the newest ε in a variable, because reading it again from
// memory right after writing it would take more than a third of the time.
func (w *whitener) unwindFirst(padded []float64) {
	theta, newest := w.ma.coef[0], 0.0
	lags := w.ma.lags[1:]
	coef := w.ma.coef[1:][:len(lags)]
	for t := w.ma.degree(); t < len(padded); t++ {
		v := padded[t] - theta*newest
		for i, lag := range lags {
			v -= coef[i] * padded[t-lag]
		}
		padded[t], newest = v, v
	}
}
