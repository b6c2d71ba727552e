package ets

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
	"github.com/forewarm/forewarm/forecast/smoothing/internal/response"
)

// Fitted is a model of the family with its parameters, and its states after the last observation.
type Fitted struct {
	spec       Spec
	period     int
	parameters Parameters
	state      state
	start      States
	simulation Simulation
	likelihood Likelihood
	// deviation is the standard deviation of the errors: in units of the series where they are additive, a share of
	// the mean where they multiply. floor is the least level of a season that multiplies.
	deviation, floor float64
	// gap are the responses that the next missing value leaves unknown; missed sums the squares of those that the gap
	// at the origin left so far, and faded is what is left of earlier gaps. Both are in units of the error's variance.
	gap           response.Sequence
	missed, faded float64
	// missing is how many steps the gap at the origin has, longestGap at most, and before the level and trend so many
	// steps ago.
	missing int
	before  line
	// products is room for E[l·s] and E[b·s] of every slot of a season that multiplies.
	products []line
	next     time.Time
	step     time.Duration
}

// line is a level and a trend, or the expected products of a slot of the season with them.
type line struct{ level, trend float64 }

// Spec is the model's components.
func (f *Fitted) Spec() Spec { return f.spec }

// Name is the model with its period, "ETS(M,Ad,M)[12]".
func (f *Fitted) Name() string { return Model{Spec: f.spec, Period: f.period}.Name() }

// Parameters are the smoothing parameters, fitted or fixed.
func (f *Fitted) Parameters() Parameters { return f.parameters }

// Likelihood is how well the model fits.
func (f *Fitted) Likelihood() Likelihood { return f.likelihood }

// Deviation is the standard deviation of the one-step errors: in units of the series where they are additive, as a
// share of the mean where they multiply.
func (f *Fitted) Deviation() float64 { return f.deviation }

// Start is the states before the first observation. Its season is the caller's.
func (f *Fitted) Start() States {
	out := f.start
	out.Season = slices.Clone(out.Season)
	return out
}

// States are those at the origin. The season is the caller's.
func (f *Fitted) States() States { return f.state.exported(f.spec) }

// exported turns the season round to begin with the coming step.
func (s *state) exported(spec Spec) States {
	out := States{Level: s.level, Trend: s.trend}
	if spec.Season != NoSeason {
		out.Season = slices.Concat(s.season[s.at:], s.season[:s.at])
	}
	return out
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing. Where a season
// multiplies, a value of 0 or less is taken for one just above 0.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *Fitted) observe(y float64) {
	if !units.Observed(y) {
		f.miss()
		return
	}
	f.state.move(f, y)
	rest := 1 - f.parameters.Alpha
	f.faded = rest * rest * (f.faded + f.missed)
	f.missed, f.missing = 0, 0
	f.gap = response.New(f.parameters.gains(), f.period)
}

// longestGap bounds the steps of a gap that a forecast goes over again where its moments depend on the path.
const longestGap = 1000

// miss lets the state coast for a step.
func (f *Fitted) miss() {
	switch {
	case f.missing == 0:
		f.before.level, f.before.trend = f.state.level, f.state.trend
		f.missing = 1
	case f.missing < longestGap:
		f.missing++
	default:
		f.before.trend *= f.parameters.Phi
		f.before.level += f.before.trend
	}
	f.state.move(f, math.NaN())
	c := f.gap.Next()
	f.missed += c * c
}

// beforeGap is the state before the gap at the origin, and the length of the gap. It shares the season.
func (f *Fitted) beforeGap() (before state, missing int) {
	before, missing = f.state, f.missing
	if missing > 0 {
		before.level, before.trend = f.before.level, f.before.trend
		n := len(before.season)
		before.at = ((before.at-missing)%n + n) % n
	}
	return before, missing
}

func (p Parameters) gains() response.Gains {
	return response.Gains{Level: p.Alpha, Trend: p.Beta, Season: p.Gamma, Phi: p.Phi}
}

const (
	// leastShare is the share of the mean below which an observation is not taken where a season multiplies, so that
	// no state reaches 0; mostFactor bounds the season, and 1/mostFactor from below.
	leastShare = 1e-3
	mostFactor = 1e6
)

// move takes the state one step on with its observation, NaN where it is missing.
func (s *state) move(f *Fitted, y float64) {
	p := f.parameters
	damped := p.Phi * s.trend
	base := s.level + damped
	toLevel, toSeason := 1.0, 1.0
	mean := base + s.season[s.at]
	if f.spec.Season == MultiplicativeSeason {
		base = math.Max(base, f.floor)
		factor := s.season[s.at]
		mean = base * factor
		toLevel, toSeason = factor, base
		y = math.Max(y, leastShare*mean)
	}
	surprise := y - mean
	if math.IsNaN(y) {
		surprise = 0
	}
	s.level = base + p.Alpha*surprise/toLevel
	s.trend = damped + p.Beta*surprise/toLevel
	s.season[s.at] += p.Gamma * surprise / toSeason
	if f.spec.Season == MultiplicativeSeason {
		s.season[s.at] = min(max(s.season[s.at], 1/mostFactor), mostFactor)
	}
	s.at++
	if s.at == len(s.season) {
		s.at = 0
	}
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst: the means, but where additive errors meet a
// season that multiplies and have none, the path without surprises.
func (f *Fitted) PointsTo(dst []float64) {
	if f.spec.Season == MultiplicativeSeason {
		f.seasonalPoints(dst)
		return
	}
	level, trend, at := f.state.level, f.state.trend, f.state.at
	for i := range dst {
		trend *= f.parameters.Phi
		level += trend
		dst[i] = level + f.state.season[at]
		at++
		if at == len(f.state.season) {
			at = 0
		}
	}
}

// seasonalPoints is PointsTo for a season that multiplies. A multiplicative error moves level and season together, so
// from the second season on the mean is not the product of theirs: E[l·s] and E[b·s] of every slot go along, each
// propagated when its slot is due. A gap at the origin is gone over again, from before it.
func (f *Fitted) seasonalPoints(dst []float64) {
	p, sigma2 := f.parameters, f.deviation*f.deviation
	if f.spec.Error == AdditiveError {
		sigma2 = 0
	}
	from, missing := f.beforeGap()
	level, trend, at := from.level, from.trend, from.at
	// reach is φ + … + φ^m and fade φ^m: what a season of steps does to level and trend.
	reach, fade := 0.0, 1.0
	for range f.period {
		fade *= p.Phi
		reach += fade
	}
	for i := range missing + len(dst) {
		trend *= p.Phi
		level += trend
		c := &f.products[at]
		if i < f.period {
			factor := f.state.season[at]
			c.level, c.trend = math.Max(level, f.floor)*factor, trend*factor
		} else {
			c.level = math.Max(c.level+reach*c.trend, f.floor*f.state.season[at])
			c.trend *= fade
		}
		if i >= missing {
			dst[i-missing] = c.level
		}
		shift := sigma2 * p.Gamma * c.level
		c.level = math.Min(c.level+p.Alpha*shift, most)
		c.trend = math.Min(c.trend+p.Beta*shift, most)
		at++
		if at == f.period {
			at = 0
		}
	}
}

// Forecast is the forecast of the coming h steps. Its standard errors are those of the model (Hyndman et al. 2008,
// ch. 6), or those of simulated paths, whose distributions are then the Marginals.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	switch {
	case f.simulation.Paths > 0:
		out.Marginals = f.simulate(out.StdErr)
	case f.spec.Error == AdditiveError:
		f.additiveErrors(out.StdErr)
	case f.spec.Season == MultiplicativeSeason:
		f.seasonalErrors(out.Point, out.StdErr)
	default:
		f.multiplicativeErrors(out.Point, out.StdErr)
	}
	return out
}
