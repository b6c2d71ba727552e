package policy

import "math"

// trailing is the maximum of the newest values, in amortised constant time: a queue of those that are not yet
// overtaken by a newer and larger one (Lemire 2006).
type trailing struct {
	window int
	seen   int
	// values and their positions, in a ring from head on; values fall.
	values    []float64
	positions []int
	head, len int
}

func newTrailing(window int) trailing {
	return trailing{window: window, values: make([]float64, window), positions: make([]int, window)}
}

// push takes the next value, NaN where it is missing, and returns the maximum of the window: NaN where nothing in it is
// known.
func (t *trailing) push(v float64) float64 {
	if t.len > 0 && t.positions[t.head] <= t.seen-t.window {
		t.head = (t.head + 1) % t.window
		t.len--
	}
	if !math.IsNaN(v) {
		for t.len > 0 && t.values[t.at(t.len-1)] <= v {
			t.len--
		}
		end := t.at(t.len)
		t.values[end], t.positions[end] = v, t.seen
		t.len++
	}
	t.seen++
	if t.len == 0 {
		return math.NaN()
	}
	return t.values[t.head]
}

func (t *trailing) at(i int) int { return (t.head + i) % t.window }

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

// most is the largest of the values that are known; NaN where none is.
func most(values ...float64) float64 {
	out := math.NaN()
	for _, v := range values {
		if !(v <= out) && !math.IsNaN(v) {
			out = v
		}
	}
	return out
}
