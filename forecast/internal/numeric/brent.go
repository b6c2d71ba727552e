package numeric

import "math"

// Brent is the place of a minimum of f between a and b, within about the tolerance, by golden sections and parabolas
// (Brent 1973, chapter 5). Where f has several minima it finds one.
func Brent(f func(float64) float64, a, b, tolerance float64) float64 {
	first := place{x: a + section*(b-a)}
	first.value = f(first.x)
	run := bracket{a: a, b: b, tolerance: tolerance, best: first, second: first, third: first}
	for !run.closed() {
		x := run.next()
		run.take(place{x: x, value: f(x)})
	}
	return run.best.x
}

// section is the smaller part of a golden section, (3−√5)/2.
const section = 0.381966011250105151795

// place is where f was evaluated.
type place struct{ x, value float64 }

// bracket is what is known of a minimum: it lies between a and b, and the three lowest places so far are these.
type bracket struct {
	a, b, tolerance     float64
	best, second, third place
	// step and before are the last two moves.
	step, before float64
}

// near is how close to each other two places may lie.
func (r *bracket) near() float64 {
	return math.Sqrt(math.Nextafter(1, 2)-1)*math.Abs(r.best.x) + r.tolerance/3
}

func (r *bracket) middle() float64 { return (r.a + r.b) / 2 }

func (r *bracket) closed() bool {
	return math.Abs(r.best.x-r.middle()) <= 2*r.near()-(r.b-r.a)/2
}

// next is where to look: at the vertex of the parabola through the three places where that lies inside and the moves
// get smaller, else in a golden section of the larger side.
func (r *bracket) next() float64 {
	x, near := r.best.x, r.near()
	if move, ok := r.parabola(); ok {
		r.before, r.step = r.step, move
		if u := x + move; u-r.a < 2*near || r.b-u < 2*near {
			r.step = math.Copysign(near, r.middle()-x)
		}
	} else {
		r.before = r.b - x
		if x >= r.middle() {
			r.before = r.a - x
		}
		r.step = section * r.before
	}
	if math.Abs(r.step) < near {
		return x + math.Copysign(near, r.step)
	}
	return x + r.step
}

// parabola is the move to the vertex; false where there is none worth going to.
func (r *bracket) parabola() (float64, bool) {
	if math.Abs(r.before) <= r.near() {
		return 0, false
	}
	x := r.best.x
	one := (x - r.second.x) * (r.best.value - r.third.value)
	other := (x - r.third.x) * (r.best.value - r.second.value)
	p, q := (x-r.third.x)*other-(x-r.second.x)*one, 2*(other-one)
	if q == 0 {
		return 0, false
	}
	move := -p / q
	return move, math.Abs(move) < math.Abs(r.before/2) && x+move > r.a && x+move < r.b
}

// take narrows the bracket by a new place.
func (r *bracket) take(u place) {
	better := u.value <= r.best.value
	outer := u // becomes an end of the bracket
	if better {
		outer = r.best
		r.third, r.second, r.best = r.second, r.best, u
	}
	if outer.x < r.best.x {
		r.a = outer.x
	} else {
		r.b = outer.x
	}
	switch {
	case better:
	case u.value <= r.second.value || r.second.x == r.best.x:
		r.third, r.second = r.second, u
	case u.value <= r.third.value || r.third.x == r.best.x || r.third.x == r.second.x:
		r.third = u
	}
}
