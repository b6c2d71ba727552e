package ensemble

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Auto forecasts any series by an ensemble of models that suit its length and its seasons. The zero Auto is usable.
type Auto struct {
	// Seasons are the lengths of the cycles in which the series may come again, in steps, ascending: {24, 168} for
	// hours of days and weeks. Those that the series does not hold twice are left alone. None means no season.
	Seasons []int
	// Horizon is how many steps ahead the ensemble is scored and calibrated, 0 means the last of the
	// Horizons, or 12. Steps beyond it can be forecast,
	// but rest on the weights and errors of the last one that was scored.
	Horizon int
	// Horizons are the steps ahead that are scored and calibrated, ascending, at most the Horizon; a step between two
	// of them goes with the later one. None means all (beyond 48, some). An Update costs in proportion: name those that
	// are served, {1, 5, 10, 15}, where series are many and values come every few seconds.
	Horizons []int
	// Quantiles are the levels whose loss decides how the errors are scaled, each between 0 and 1; none means 0.05, 0.5 and
	// 0.95. Any other level can be asked for.
	Quantiles []float64
	// Budget is the CPU time that Fit may take, by an estimate that is the same on every machine: candidates are left
	// out until it is kept. 0 means 150 ms.
	Budget time.Duration
	// Without are kinds of candidates that take no part, by the names that Reasons gives them. The last value always does.
	Without []string
}

const (
	defaultHorizon = 12
	defaultBudget  = 150 * time.Millisecond
	// mostHorizon bounds what is kept for open forecasts, which grows with the horizon.
	mostHorizon = 1440
)

var _ forecast.Model = Auto{}

// Name is "Auto" with the seasons: "Auto(24, 168)".
func (m Auto) Name() string {
	if len(m.Seasons) == 0 {
		return "Auto"
	}
	names := make([]string, len(m.Seasons))
	for i, season := range m.Seasons {
		names[i] = strconv.Itoa(season)
	}
	return "Auto(" + strings.Join(names, ", ") + ")"
}

// Fit needs one observation. Errors: forecast.ErrParameter, forecast.ErrTooShort where there is no observation,
// forecast.ErrNotFinite.
func (m Auto) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which gives quantiles, maxima and reasons.
//
// The candidates are fitted on the first part of the series, and the rest is fed to them as if it came live: errors,
// weights and calibration are out of sample from the beginning. Then they are refitted, on the whole.
func (m Auto) Estimate(s forecast.Series) (*Fitted, error) {
	options, s, err := m.begin(s)
	if err != nil {
		return nil, err
	}
	return options.estimate(s), nil
}

// begin is the Auto with its defaults, and the series from its first observation on: what lies before is no outage.
func (m Auto) begin(s forecast.Series) (Auto, forecast.Series, error) {
	options, err := m.filled()
	if err == nil {
		err = numeric.Check(s, 1)
	}
	if err != nil {
		return m, s, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return options, s.Slice(numeric.First(s.Values), s.Len()), nil
}

// estimate is Estimate with every option set, on a series that begins with an observation.
func (m Auto) estimate(s forecast.Series) *Fitted {
	held := m.holdOut(s.Len())
	split := s.Len() - held
	taken, dropped := m.plan(s.Len(), held)
	f := newFitted(m, s, taken, dropped)
	for _, y := range s.Values[:split] {
		f.observe(y)
	}
	f.fit(s.Slice(0, split))
	f.replay(s.Values[split:])
	if held > 0 {
		f.points.choose()
		f.fit(s)
	}
	return f
}

// filled checks the options and puts the defaults in place.
func (m Auto) filled() (Auto, error) {
	options := Auto{
		Seasons:   slices.Clone(m.Seasons),
		Horizon:   cmp.Or(m.Horizon, m.lastAsked(), defaultHorizon),
		Horizons:  slices.Clone(m.Horizons),
		Quantiles: slices.Sorted(slices.Values(m.Quantiles)),
		Budget:    cmp.Or(m.Budget, defaultBudget),
		Without:   slices.Clone(m.Without),
	}
	if len(m.Quantiles) == 0 {
		options.Quantiles = []float64{0.05, 0.5, 0.95}
	}
	return options, options.check()
}

// lastAsked is the last of the horizons, 0 without any.
func (m Auto) lastAsked() int {
	if len(m.Horizons) == 0 {
		return 0
	}
	return m.Horizons[len(m.Horizons)-1]
}

func (m Auto) check() error {
	switch {
	case m.Horizon < 1 || m.Horizon > mostHorizon:
		return fmt.Errorf("horizon %d, want 1 to %d: %w", m.Horizon, mostHorizon, forecast.ErrParameter)
	case !ascending(m.Horizons, 1, m.Horizon):
		return fmt.Errorf("horizons %v, want them ascending from 1 to at most %d: %w",
			m.Horizons, m.Horizon, forecast.ErrParameter)
	case !ascending(m.Seasons, 2, math.MaxInt):
		return fmt.Errorf("seasons %v, want them ascending from 2 on: %w", m.Seasons, forecast.ErrParameter)
	case m.Budget < 0:
		return fmt.Errorf("budget %s, want more than 0: %w", m.Budget, forecast.ErrParameter)
	case slices.ContainsFunc(m.Quantiles, func(p float64) bool { return !(p > 0 && p < 1) }):
		return fmt.Errorf("quantiles %v, want them between 0 and 1: %w", m.Quantiles, forecast.ErrParameter)
	default:
		return nil
	}
}

// ascending reports whether the numbers rise strictly, from least on and to most at most.
func ascending(numbers []int, least, most int) bool {
	for _, n := range numbers {
		if n < least || n > most {
			return false
		}
		least = n + 1
	}
	return true
}

// holdOut is how many steps at the end of n are replayed: enough for a season of scores at the last horizon, but no
// more than a third of a series, nor than mostHeld (and the horizon), which make calibration enough.
func (m Auto) holdOut(n int) int {
	if n < 12 {
		return 0
	}
	want := heldHorizons * m.Horizon
	for _, season := range m.Seasons {
		if 3*season <= n {
			want = max(want, season)
		}
	}
	return min(n/3, min(max(want, leastHeld), mostHeld)+m.Horizon)
}

const (
	// heldHorizons is how many independent errors are wanted at the last horizon.
	heldHorizons = 10

	leastHeld = 240
	mostHeld  = 1440
)
