package shape

import "math"

// past is a ring of the newest values.
type past struct {
	values []float64
	at     int
	seen   int
}

func newPast(n int) past { return past{values: make([]float64, n)} }

func (p *past) push(v float64) {
	p.values[p.at] = v
	p.at = (p.at + 1) % len(p.values)
	p.seen++
}

// ago is the value pushed n pushes before the newest, n < len(values), or the oldest there is; NaN where there is none.
func (p *past) ago(n int) float64 {
	if p.seen == 0 {
		return math.NaN()
	}
	n = min(n, p.seen-1)
	return p.values[((p.at-1-n)%len(p.values)+len(p.values))%len(p.values)]
}

// knows says whether a value n pushes before the newest was pushed.
func (p *past) knows(n int) bool { return n < p.seen && n < len(p.values) }
