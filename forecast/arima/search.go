package arima

import (
	"cmp"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// cheap is the approximate cost of a pass of the exact likelihood, in multiplications, up to which orders are screened by exact likelihood.
const cheap = 3e4

// candidate is an order with the point at which the screening ended, and its criterion at this point.
type candidate struct {
	order     Order
	x         []float64
	criterion float64
}

// better compares candidates for the ranking. If two candidates are equal, the one with fewer parameters is better, and then the one with
// fewer autoregressive and fewer seasonal terms. So the ranking depends only on the series.
func better(x, y candidate) int {
	return cmp.Or(cmp.Compare(x.criterion, y.criterion), cmp.Compare(x.order.parameters(), y.order.parameters()),
		cmp.Compare(x.order.P, y.order.P), cmp.Compare(x.order.Seasonal.P, y.order.Seasonal.P),
		cmp.Compare(x.order.Seasonal.Q, y.order.Seasonal.Q))
}

// search ranks orders with given differences by a fast criterion.
type search struct {
	bounds Auto
	base   Order
	// problems are the problems of the series, without and with a constant; nil if the series is too short.
	problems map[bool]*problem
	seeds    map[bool]*seed
	seen     map[Order]bool
	ranked   []candidate
	// exact is true if orders are screened by exact likelihood, and not by conditional least squares.
	exact bool
}

func newSearch(bounds Auto, s forecast.Series, d, seasonal int) *search {
	h := &search{
		bounds:   bounds,
		base:     Order{D: d, Seasonal: Seasonal{D: seasonal, Period: bounds.Period}},
		problems: map[bool]*problem{}, seeds: map[bool]*seed{}, seen: map[Order]bool{},
	}
	largest := h.step(h.base, [4]int{2, 2, 1, 1}, false)
	for _, constant := range []bool{false, true} {
		order := h.base
		order.Constant = constant
		if constant && order.differences() > 1 {
			continue
		}
		if pr, err := prepare(s, order); err == nil {
			h.problems[constant], h.seeds[constant] = pr, newSeed(pr)
			h.exact = pr.cost(largest) <= cheap
		}
	}
	if bounds.KeepMean && h.base.differences() == 0 && h.problems[true] != nil && positive(s.Values) {
		h.problems[false] = nil
	}
	return h
}

// positive reports whether no value is 0 or negative.
func positive(values []float64) bool {
	return !slices.ContainsFunc(values, func(y float64) bool { return y <= 0 })
}

// run returns the ranking, the best order first. Without a season, it ranks all orders within the bounds. With a season, it ranks the
// orders that the method of Hyndman & Khandakar (2008) visits on its way from four simple orders to an order that is better than its
// neighbors.
func (h *search) run() []candidate {
	if h.bounds.Period == 0 {
		h.sweep()
	} else {
		h.climb()
	}
	slices.SortStableFunc(h.ranked, better)
	return h.ranked
}

// sweep tries all orders without a season.
func (h *search) sweep() {
	for _, constant := range []bool{false, true} {
		for p := range h.bounds.MaxP + 1 {
			for q := range h.bounds.MaxQ + 1 {
				order := h.base
				order.P, order.Q, order.Constant = p, q, constant
				h.try(order, nil)
			}
		}
	}
}

// climb moves from the best of the first orders to the best of its neighbors, until no neighbor is better.
func (h *search) climb() {
	for _, constant := range []bool{true, false} {
		for _, first := range [][4]int{{2, 2, 1, 1}, {0, 0, 0, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}} {
			h.try(h.step(h.base, first, constant), nil)
		}
	}
	for {
		if len(h.ranked) == 0 {
			return
		}
		best := slices.MinFunc(h.ranked, better)
		before := len(h.ranked)
		for _, move := range neighbours() {
			h.try(h.step(best.order, move, best.order.Constant), &best)
		}
		h.try(h.step(best.order, [4]int{}, !best.order.Constant), &best)
		if better(slices.MinFunc(h.ranked[before-1:], better), best) >= 0 {
			return
		}
	}
}

// neighbours returns the changes of p, q, P and Q that are tried.
func neighbours() [][4]int {
	return [][4]int{
		{-1, 0, 0, 0},
		{0, -1, 0, 0},
		{0, 0, -1, 0},
		{0, 0, 0, -1},
		{1, 0, 0, 0},
		{0, 1, 0, 0},
		{0, 0, 1, 0},
		{0, 0, 0, 1},
		{-1, -1, 0, 0},
		{1, 1, 0, 0},
		{0, 0, -1, -1},
		{0, 0, 1, 1},
		{1, -1, 0, 0},
		{-1, 1, 0, 0},
		{0, 0, 1, -1},
		{0, 0, -1, 1},
	}
}

// step returns the order with p, q, P and Q changed, within the bounds.
func (h *search) step(order Order, change [4]int, constant bool) Order {
	within := func(v, limit int) int { return max(0, min(v, limit)) }
	order.P = within(order.P+change[0], h.bounds.MaxP)
	order.Q = within(order.Q+change[1], h.bounds.MaxQ)
	order.Seasonal.P = within(order.Seasonal.P+change[2], h.bounds.MaxSeasonalP)
	order.Seasonal.Q = within(order.Seasonal.Q+change[3], h.bounds.MaxSeasonalQ)
	order.Constant = constant
	return order
}

// try screens an order, unless this was done before. The search starts at the point at which the search for a neighbor ended.
func (h *search) try(order Order, from *candidate) {
	order.Seasonal.Period = h.bounds.Period
	pr := h.problems[order.Constant]
	if pr == nil || h.seen[order] {
		return
	}
	h.seen[order] = true
	own := *pr
	own.order = order.canonical()
	n, k := own.used, order.parameters()+1
	meanAlone := h.bounds.KeepMean && h.problems[false] == nil && order.coefficients() == 0
	if n <= k+1 && k > 1 && !meanAlone || len(own.differenced[0]) < 1 {
		return
	}
	c := candidate{order: order, criterion: math.Inf(-1)}
	switch {
	case own.flat && order.coefficients() > 0:
		return
	case !own.flat:
		var objective float64
		c.x, objective = newEvaluator(&own).screen(h.start(order, from), h.exact)
		c.criterion = aicc(-float64(n)*(objective+math.Log(own.scale)), n, k)
	}
	if !math.IsNaN(c.criterion) {
		h.ranked = append(h.ranked, c)
	}
}

// screen returns the point at which a fast search from x ends, and the objective at this point.
func (e *evaluator) screen(x []float64, exact bool) (end []float64, objective float64) {
	likelihood := e.conditional
	if exact {
		likelihood = e.exact
	}
	end = e.descend(likelihood, x, numeric.LeastSquares{Decrease: screenDecrease, Iterations: screenIterations}).X
	if !e.at(end) {
		return end, math.Inf(1)
	}
	return end, likelihood().objective()
}

// cost returns the cost of a pass of the exact likelihood of an order.
func (pr *problem) cost(order Order) int {
	s := order.Seasonal
	size := max(order.P+s.P*s.Period, order.Q+s.Q*s.Period+1) + order.D + s.D*s.Period
	missing := len(pr.levels[0]) - order.D - s.D*s.Period - pr.used
	return len(pr.levels[0]) * size * (1 + 3*min(missing, most))
}

// start returns the point from which to search: the point of the neighbor, with new terms near 0, or a first guess.
func (h *search) start(order Order, from *candidate) []float64 {
	if from == nil {
		return h.seeds[order.Constant].guess(order)
	}
	var x []float64
	rest := from.x
	old, own := from.order.terms(), order.terms()
	for i, n := range own {
		part := make([]float64, n)
		copy(part, rest[:old[i]])
		for j := old[i]; j < n; j++ {
			part[j] = 0.1
		}
		rest = rest[old[i]:]
		x = append(x, part...)
	}
	return x
}

// terms returns the numbers of terms, in the order of the coordinates of a point.
func (o Order) terms() [4]int { return [4]int{o.P, o.Seasonal.P, o.Q, o.Seasonal.Q} }
