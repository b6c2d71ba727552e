package policy

import "math"

// delayed gives back values after a number of steps; NaN before.
type delayed struct {
	values []float64
	next   int
}

func newDelayed(steps int) delayed {
	d := delayed{values: make([]float64, steps)}
	for i := range d.values {
		d.values[i] = math.NaN()
	}
	return d
}

func (d *delayed) push(v float64) float64 {
	old := d.values[d.next]
	d.values[d.next] = v
	d.next = (d.next + 1) % len(d.values)
	return old
}
