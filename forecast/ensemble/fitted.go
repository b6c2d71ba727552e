package ensemble

import (
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
