package ensemble

import (
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/intermittent"
)

// Fitted is an ensemble at its origin: a combination of members, and the calibration of what it forecasts.
type Fitted struct {
	points *Combination
	scales scales
	nights intermittent.Slots
	// values are the values at the anchors.
	values []target
	// analytic are the standard errors by the members' own account, when they were fitted.
	analytic []float64
}

// ringSize errors are kept for each unit and anchor: of a day of minutes every third.
const ringSize = 480

var _ forecast.Fitted = (*Fitted)(nil)

func newFitted(m Auto, s forecast.Series, taken, dropped []candidate) *Fitted {
	f := &Fitted{points: newCombination(m, s, taken, dropped), scales: newScales(m.Seasons)}
	f.nights = nights(m.Seasons, s.Len())
	every := max(1, m.holdOut(s.Len())/ringSize)
	for _, h := range f.points.anchors {
		f.values = append(f.values, newTarget(h, m.Quantiles, ringSize, every, f.points.keep))
	}
	return f
}

// fit fits the members on a series that ends at the origin.
func (f *Fitted) fit(s forecast.Series) {
	f.points.fit(s)
	f.aim()
	f.analytic = f.points.deviations(f.points.horizon)
}

// Update moves the origin one step on: forecasts that are due are scored, the members take the observation, and the
// ensemble forecasts again. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	f.points.Update(y)
	f.take()
	f.resolve()
	f.aim()
	f.file()
}

// observe takes a value into the memory, and neither scores nor forecasts.
func (f *Fitted) observe(y float64) {
	f.points.observe(y)
	f.take()
}

// take takes the value that the combination has observed.
func (f *Fitted) take() {
	f.scales.observe(f.points.newest)
	f.nights.Update(f.points.newest)
}

// resolve scores the quantiles that were given for what has come.
func (f *Fitted) resolve() {
	for j := range f.values {
		f.values[j].resolve(f.points.newest)
	}
}

// aim takes the combination's path for the centres of what is calibrated.
func (f *Fitted) aim() {
	for j, h := range f.points.anchors {
		f.values[j].aim(&f.scales, f.points.path[h-1])
	}
}

// file keeps the forecasts of this origin until the truth is known.
func (f *Fitted) file() {
	for j, h := range f.points.anchors {
		f.values[j].file(f.points.path[h-1])
	}
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst. Beyond the horizon the weights are those of
// its last step; the first time that dst is so long it allocates room to work in.
func (f *Fitted) PointsTo(dst []float64) {
	f.points.PointsTo(dst)
	f.quieten(dst)
}

// quieten makes points 0 where that is the median of the step: members are weighed by absolute errors.
func (f *Fitted) quieten(points []float64) {
	for i := range points {
		if !f.points.signed && f.nights.Zero(i) >= 0.5 {
			points[i] = 0
		}
	}
}

// updatePath combines the members' paths.
func (c *Combination) updatePath() {
	for i := range c.path {
		c.path[i] = c.blended(i)
	}
}

// blended is the members' mean of step i, by their weights; where no member has a forecast it is the last value.
func (c *Combination) blended(i int) float64 {
	sum, total := 0.0, 0.0
	for k, w := range c.weights[c.anchor[i]] {
		if v := c.members[k].path[i]; w > 0 && !math.IsNaN(v) {
			sum += w * c.reach(v)
			total += w
		}
	}
	if total == 0 {
		return floor(c.last, c.signed)
	}
	return floor(sum/total, c.signed)
}

// farthest is how many times the largest magnitude that was seen a member may forecast: beyond it lies the
// extrapolation of an exponential.
const farthest = 3

// reach holds a member's forecast within what could be.
func (c *Combination) reach(v float64) float64 {
	return max(min(v, farthest*c.largest), -farthest*c.largest)
}

// floor keeps a forecast from going below 0 where the series never was.
func floor(v float64, signed bool) float64 {
	if signed {
		return v
	}
	return math.Max(v, 0)
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst. Beyond the horizon the weights are those of
// its last step; the first time that dst is so long it allocates room to work in.
func (c *Combination) PointsTo(dst []float64) {
	served := copy(dst, c.path)
	if served == len(dst) {
		return
	}
	if len(c.long) < len(dst) {
		c.long = make([]float64, len(dst))
	}
	beyond, path := dst[served:], c.long[:len(dst)]
	clear(beyond)
	total := 0.0
	for k, w := range c.weights[len(c.anchors)-1] {
		if m := c.members[k]; w > 0 && m.fitted != nil {
			m.fitted.PointsTo(path)
			for i := range beyond {
				beyond[i] += w * c.reach(path[served+i])
			}
			total += w
		}
	}
	for i := range beyond {
		if total > 0 {
			beyond[i] = floor(beyond[i]/total, c.signed)
		} else {
			beyond[i] = c.path[served-1]
		}
	}
}

// Forecast is the forecast of the coming h steps; standard errors are the members' own, by their weights.
func (c *Combination) Forecast(h int) forecast.Forecast {
	h = max(h, 0)
	out := forecast.Forecast{Start: c.next, Step: c.step, Point: make([]float64, h), StdErr: c.deviations(h)}
	c.PointsTo(out.Point)
	return out
}

// deviations are the members' standard errors of the coming h steps, by their weights at the nearest anchor.
func (c *Combination) deviations(h int) []float64 {
	out := make([]float64, h)
	totals := make([]float64, h)
	for k, m := range c.members {
		if m.fitted == nil {
			continue
		}
		for i, d := range m.fitted.Forecast(h).StdErr {
			w := c.weights[c.anchor[min(i, c.horizon-1)]][k]
			out[i] += w * d
			totals[i] += w
		}
	}
	for i, total := range totals {
		if total > 0 {
			out[i] /= total
		}
	}
	return out
}

// Points is Auto without its calibration: a Combination, for callers that calibrate by themselves. Quantiles are unused.
type Points struct{ Auto }

var _ forecast.Model = Points{}

// Fit needs one observation. Errors as Auto's.
func (p Points) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := p.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which gives reasons.
func (p Points) Estimate(s forecast.Series) (*Combination, error) {
	options, s, err := p.begin(s)
	if err != nil {
		return nil, err
	}
	return options.combine(s), nil
}

func (m Auto) combine(s forecast.Series) *Combination {
	held := m.holdOut(s.Len())
	split := s.Len() - held
	taken, dropped := m.plan(s.Len(), held)
	c := newCombination(m, s, taken, dropped)
	for _, y := range s.Values[:split] {
		c.observe(y)
	}
	c.fit(s.Slice(0, split))
	for range c.replay(s.Values[split:]) {
		continue // The weights are learnt on the way.
	}
	if held > 0 {
		c.choose()
		c.fit(s)
	}
	return c
}
