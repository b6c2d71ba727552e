package forecaster

import (
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/interval"
	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/decide"
)

// member is one candidate: a fitted model, the maxima it forecasts, and how they turned out.
type member struct {
	blueprint
	title  string
	fitted forecast.Fitted
	err    error

	views []view
	// own is the index of the lead window among the views.
	own int
	// adaptive keeps the served level's coverage; bounds are the quantiles it gave, one for each open lead window.
	adaptive interval.Adaptive
	level    float64
	bounds   *ring
	// loss is the pinball loss at the served level, coverage the share of windows within it.
	loss, coverage decayed
}

// view is one horizon of a member.
type view struct {
	steps   int
	every   int64   // steps between two scores that are kept
	maximum float64 // of the points over the horizon, as forecast now
	issued  *ring   // maxima forecast for the windows that are open
	scores  *interval.Scores
}

// newMember keeps a score every so many steps, one in three of them beside the lead window.
func newMember(b blueprint, c Config, horizons []int, every int) *member {
	m := &member{
		blueprint: b, level: c.Policy.Level(), views: make([]view, len(horizons)),
		adaptive: interval.NewAdaptive(c.Policy.Level(), adaptRate),
		// A season's half-life is long enough to hold all of a cycle, short enough to demote a model that has stopped.
		loss: newDecayed(c.cycle(), c.Step), coverage: newDecayed(c.cycle(), c.Step),
	}
	for i, h := range horizons {
		share := 3
		if h == c.stepsIn(c.Window) {
			m.own, share = i, 1
		}
		m.views[i] = view{steps: h, every: 1, issued: newRing(h), scores: interval.NewScores(scoreCount / share)}
		if every > 1 { // A young series needs all the scores that it has.
			m.views[i].every = int64(every * share)
		}
	}
	m.bounds = newRing(m.views[m.own].steps)
	return m
}

// fit makes the model from the demand so far; a model that does not fit keeps its reason and takes no part.
func (m *member) fit(c Config, train forecast.Series) {
	model := m.model(c)
	m.title = model.Name()
	m.fitted, m.err = model.Fit(train)
	if named, ok := m.fitted.(interface{ Name() string }); ok && m.err == nil {
		m.title = named.Name() // Automatic models know their structure once fitted.
	}
}

// score takes the maxima that came over the windows that end now (NaN: not known), and the scales of their beginnings.
// Not every score is kept, so that those that are reach back a season. A maximum that is a lower bound counts where it is
// above what was forecast.
func (m *member) score(index int64, maxima []float64, scales *ring, bounds *censored) {
	for i := range m.views {
		v := &m.views[i]
		if index%v.every != 0 || v.issued.len() < v.steps {
			continue
		}
		score := (maxima[i] - v.issued.ago(v.steps-1)) / scales.ago(v.steps-1)
		if !bounds.within(v.steps) || score > v.scores.Quantile(m.level) {
			v.scores.Add(score)
		}
	}
	own := &m.views[m.own]
	if m.bounds.len() < own.steps {
		return
	}
	came, bound := maxima[m.own], m.bounds.ago(own.steps-1)
	if math.IsNaN(came) || math.IsNaN(bound) || came <= bound && bounds.within(own.steps) {
		return
	}
	m.adaptive.Record(came <= bound)
	m.coverage.add(indicator(came <= bound))
	m.loss.add(pinball(m.level, came, bound))
}

// advance takes the newest demand and forecasts anew; path is scratch of the longest horizon.
func (m *member) advance(now, scale float64, bound credible.Bound, path []float64) {
	m.fitted.Update(now)
	m.fitted.PointsTo(path)
	highest, n := 0.0, 0 // demand is never negative
	for i := range m.views {
		v := &m.views[i]
		for ; n < v.steps; n++ {
			highest = math.Max(highest, path[n])
		}
		v.maximum = highest
		v.issued.push(highest)
	}
	m.bounds.push(m.quantile(m.own, m.level, scale, bound))
}

// calibrated says whether a horizon has seen enough to be trusted.
func (m *member) calibrated(view int) bool {
	return m.err == nil && m.views[view].scores.Len() >= fewest
}

// quantile of the maximum over a horizon, no more than history justifies; NaN until it is calibrated.
func (m *member) quantile(view int, level, scale float64, bound credible.Bound) float64 {
	if !m.calibrated(view) {
		return math.NaN()
	}
	v := &m.views[view]
	q, _ := bound.Limit(view).Cut(math.Max(0, v.maximum+scale*v.scores.Quantile(m.adaptive.Level(level))))
	return q
}

// quantiles is the distribution of the maximum over a horizon that is calibrated.
func (m *member) quantiles(view int, scale float64, bound credible.Bound) decide.Quantiles {
	var q decide.Quantiles
	for i, level := range decide.Levels() {
		q[i] = m.quantile(view, level, scale, bound)
	}
	return q
}

// pinball is the loss of a p-quantile q when y came (Koenker & Bassett 1978).
func pinball(p, y, q float64) float64 {
	if y > q {
		return p * (y - q)
	}
	return (1 - p) * (q - y)
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
