package ensemble

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Combination is the members of an ensemble with the weights that their errors have earned: points, of which nothing is
// calibrated. It costs a fraction of a Fitted, and is for callers that calibrate what they make of the points.
type Combination struct {
	members []*member
	outdone []Candidate // those that the hold-out left behind
	dropped []string    // names of those that the budget left out
	horizon int
	// anchors are the horizons that are scored; anchor gives for each step up to the horizon which of them it goes
	// with.
	anchors, anchor []int

	// losses, weights and pending are of every anchor; pending holds the members' points of the open origins.
	losses  [][]record
	weights [][]float64
	pending [][]float64
	judged  []record    // scratch
	others  [][]float64 // scratch
	keep    float64
	origins int // origins filed so far

	// newest is the newest observation, NaN for a gap; last the newest that was none, NaN before the first; largest the
	// largest magnitude seen.
	newest, last, largest float64
	// signed means that the series has been below 0; where it has not, no forecast goes there.
	signed bool

	path []float64 // as it stands, up to the horizon
	long []float64 // scratch beyond it
	next time.Time
	step time.Duration
}

// The half-life of the trailing losses, in steps: long enough to tell members apart, short enough to drop one within the
// hours after its series changed. At a far horizon errors overlap: they need as many horizons as steps at the next.
const (
	leastHalfLife = 180
	halfLifes     = 20
)

var _ forecast.Fitted = (*Combination)(nil)

func newCombination(m Auto, s forecast.Series, taken, dropped []candidate) *Combination {
	c := &Combination{
		horizon: m.Horizon,
		anchors: anchors(m.Horizons, m.Horizon),
		keep:    halfLife(max(leastHalfLife, halfLifes*float64(m.Horizon))),
		newest:  math.NaN(),
		last:    math.NaN(),
		path:    make([]float64, m.Horizon),
		next:    s.Start,
		step:    s.Step,
	}
	c.anchor = anchorOf(c.anchors)
	taken = slices.Concat(taken, intermittents(s))
	for _, d := range dropped {
		c.dropped = append(c.dropped, d.name())
	}
	for _, t := range taken {
		c.members = append(c.members, &member{candidate: t, path: make([]float64, m.Horizon)})
	}
	if len(taken) >= fewestOfMedian {
		c.members = append(c.members, newMedian(m.Horizon))
	}
	c.others, c.judged = make([][]float64, len(c.members)), make([]record, len(c.members))
	for _, h := range c.anchors {
		weights := make([]float64, len(c.members))
		weights[0] = 1
		c.losses = append(c.losses, make([]record, len(c.members)))
		c.weights = append(c.weights, weights)
		c.pending = append(c.pending, make([]float64, h*len(c.members)))
	}
	return c
}

// fit fits the members on a series that ends at the origin.
func (c *Combination) fit(s forecast.Series) {
	for _, m := range c.members {
		m.fit(s)
		m.updatePath()
	}
	c.updateMedian()
	c.updatePath()
}

// Update moves the origin one step on: forecasts that are due are scored and weighed, the members take the observation,
// and forecast again. A value that is not finite, or beyond 1e150, counts as missing.
func (c *Combination) Update(y float64) {
	c.observe(y)
	c.resolve()
	for _, m := range c.members {
		m.advance(y)
		m.updatePath()
	}
	c.updateMedian()
	c.updatePath()
	c.file()
}

func (c *Combination) observe(y float64) {
	c.next = c.next.Add(c.step)
	if !numeric.Observed(y) {
		y = math.NaN()
	} else {
		c.signed = c.signed || y < 0
		c.largest = max(c.largest, math.Abs(y))
		c.last = y
	}
	c.newest = y
}

// resolve scores what was forecast for the step that has come.
func (c *Combination) resolve() {
	y := c.newest
	if math.IsNaN(y) {
		return
	}
	for j := range c.anchors {
		c.score(j, y)
	}
	c.weigh()
}

// score records the members' errors at anchor j.
func (c *Combination) score(j int, y float64) {
	if c.origins < c.anchors[j] {
		return
	}
	for i, point := range c.issued(j) {
		if e := math.Abs(y - point); !math.IsNaN(e) {
			c.losses[j][i].add(e, c.keep)
		}
	}
}

// weigh moves the weights. At each anchor a member is judged by its losses there and around it.
func (c *Combination) weigh() {
	for j := range c.anchors {
		near := around(c.losses, j)
		for k := range c.members {
			c.judged[k] = record{}
			for _, losses := range near {
				c.judged[k].sum += losses[k].sum / float64(len(near))
				c.judged[k].weight += losses[k].weight / float64(len(near))
			}
		}
		weigh(c.weights[j], c.judged, c.anchors[j], sharpestMember)
	}
}

// issued are the members' points of the oldest origin that is open at anchor j; the coming origin's replace them.
func (c *Combination) issued(j int) []float64 {
	width := len(c.members)
	slot := c.origins % c.anchors[j]
	return c.pending[j][slot*width : (slot+1)*width]
}

// file keeps the members' points of this origin until the truth is known.
func (c *Combination) file() {
	for j, h := range c.anchors {
		open := c.issued(j)
		for i, m := range c.members {
			open[i] = m.path[h-1]
		}
	}
	c.origins++
}

// newMedian is a member that forecasts the median of the others, of equal weight: where the errors of the replay cannot
// tell the members apart it errs less than any mean of them, as one that goes astray has no say (Petropoulos & Svetunkov
// 2020). It is weighed by its own errors like each of them.
func newMedian(horizon int) *member {
	return &member{candidate: candidate{title: "Median"}, median: true, path: make([]float64, horizon)}
}

// updateMedian takes the others' paths.
func (c *Combination) updateMedian() {
	last := len(c.members) - 1
	if !c.members[last].median {
		return
	}
	for i, m := range c.members[:last] {
		c.others[i] = m.path
	}
	medians(c.members[last].path, c.others[:last])
}

// medians writes the median of the paths at each step to dst, NaN where there is none.
func medians(dst []float64, paths [][]float64) {
	var values [mostCandidates]float64
	for i := range dst {
		n := 0
		for _, path := range paths {
			v := path[i]
			if math.IsNaN(v) {
				continue
			}
			at := n
			for ; at > 0 && values[at-1] > v; at-- {
				values[at] = values[at-1]
			}
			values[at] = v
			n++
		}
		dst[i] = math.NaN()
		if n > 0 {
			dst[i] = values[(n-1)/2]/2 + values[n/2]/2
		}
	}
}

// fewestOfMedian is of how many members a median is taken.
const fewestOfMedian = 3

// mostCandidates is more than there are in any plan.
const mostCandidates = 64

// member is a candidate with its model, once fitted, and how its forecasts turned out.
type member struct {
	candidate
	fitted forecast.Fitted
	err    error
	// median means that it has no model: it is the median of the others.
	median bool
	// path is the forecast of the steps up to the horizon, as it stands.
	path []float64
}

func (m *member) fit(s forecast.Series) {
	if m.median {
		return
	}
	fitted, err := m.candidate.fit(s)
	if err != nil {
		m.err = err
		return
	}
	m.fitted, m.err = fitted, nil
}

// advance takes the newest observation.
func (m *member) advance(y float64) {
	if m.fitted != nil {
		m.fitted.Update(y)
	}
}

// updatePath updates the member's forecast. Without a model it is NaN, which is never scored.
func (m *member) updatePath() {
	if m.median {
		return // It is updated after all others.
	}
	if m.fitted == nil {
		for i := range m.path {
			m.path[i] = math.NaN()
		}
		return
	}
	m.fitted.PointsTo(m.path)
}
