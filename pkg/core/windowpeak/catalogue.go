package windowpeak

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// The names of the candidates, as specs and selectors write them.
const (
	Regression  = "regression"
	LastValue   = "last-value"
	RunningMax  = "running-max"
	LastSeason  = "last-season"
	SES         = "ses"
	Holt        = "holt"
	HoltWinters = "holt-winters"
	ARIMA       = "arima"
	Auto        = "auto"
)

// Names are those of all candidates, in a fixed order.
func Names() []string {
	return []string{Regression, LastValue, RunningMax, LastSeason, SES, Holt, HoltWinters, ARIMA, Auto}
}

// Baselines are the names of those that cost nothing and are hard to beat: they always stand by.
func Baselines() []string { return []string{LastValue, RunningMax, LastSeason} }

// Canonical is the name of a candidate however it is spelled (HoltWinters, holt_winters, holt-winters); ok is false
// where there is none.
func Canonical(name string) (canonical string, ok bool) {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
	}
	i := slices.IndexFunc(Names(), func(n string) bool { return plain(n) == plain(name) })
	if i < 0 {
		return "", false
	}
	return Names()[i], true
}

const (
	// shortMemory is the history that settles the few parameters of a model without a season.
	shortMemory = Day
	// seasonsOfHistory of one with a season.
	seasonsOfHistory = 14
	// slotsOfSeason: a block of Holt-Winters is as long as a minute of a day, one of the ensemble, which costs more, as five.
	slotsOfSeason, coarseSlots = 1440, 288
	// autoBudget is the CPU time that a fit of the ensemble may take.
	autoBudget = 2 * time.Millisecond
)

// source makes what a candidate of a name forecasts by; nil where it makes no sense for the configuration.
func (c Config) source(name string, l *Learner, longest int) (source, error) { //nolint:ireturn // One of several.
	season := c.season()
	slot := blocks(season/slotsOfSeason, c.Step)
	period := int(season / slot)
	seasonal := season%slot == 0 && period >= 2
	switch name {
	case Regression:
		return &regressed{Learner: l, least: c.Tolerance / 2}, nil
	case LastValue:
		return &held{name: "Last value", recent: trailing.NewMax(1)}, nil
	case RunningMax:
		return &held{name: "Running maximum", recent: trailing.NewMax(c.steps(c.Window))}, nil
	case LastSeason:
		minute := blocks(season/yesterdaySlots, c.Step)
		if season%minute != 0 || season < 2*minute {
			return nil, nil //nolint:nilnil // There is none.
		}
		of, err := c.model(naive.Seasonal{Period: int(season / minute)}, minute, season+minute)
		if err != nil {
			return nil, err
		}
		of.early = true
		return &again{modelled: modelled{Model: of}, features: l.features}, nil
	case SES:
		return c.modelled(smoothing.SES{}, time.Minute, shortMemory)
	case Holt:
		return c.modelled(smoothing.Holt{Damped: true}, time.Minute, shortMemory)
	case ARIMA:
		return c.modelled(arima.Auto{MaxD: 1}, time.Minute, shortMemory)
	case HoltWinters:
		if !seasonal {
			return nil, nil //nolint:nilnil // There is none.
		}
		m, err := c.model(
			smoothing.HoltWinters{Period: period, Trend: smoothing.DampedTrend},
			slot,
			seasonsOfHistory*season,
		)
		if err != nil {
			return nil, err
		}
		m.first = 2*period + 1
		return &modelled{Model: m}, nil
	case Auto:
		slot = blocks(season/coarseSlots, c.Step)
		return c.modelled(c.ensemble(slot, longest), slot, seasonsOfHistory*season/2)
	}
	return nil, fmt.Errorf("window peak: unknown candidate %q, valid are %v", name, Names())
}

// ensemble is the combination's points: what calibrates all candidates alike calibrates them, too.
func (c Config) ensemble(slot time.Duration, longest int) ensemble.Points {
	window := max(1, int((c.Window+slot-1)/slot))
	out := ensemble.Auto{Horizons: []int{1}, Budget: autoBudget}
	if window > 1 {
		out.Horizons = append(out.Horizons, window)
	}
	out.Horizon = max(12, window, int(time.Duration(longest)*c.Step/slot)+2)
	for _, season := range c.seasons() {
		if season%slot == 0 && season >= 2*slot {
			out.Seasons = append(out.Seasons, int(season/slot))
		}
	}
	return ensemble.Points{Auto: out}
}

func (c Config) modelled(of forecast.Model, block, history time.Duration) (*modelled, error) {
	m, err := c.model(of, blocks(block, c.Step), history)
	return &modelled{Model: m}, err
}

func (c Config) model(of forecast.Model, block, history time.Duration) (*Model, error) {
	return NewModel(ModelConfig{
		Model: of, Step: c.Step, Block: block, Window: max(c.Window, block), History: max(history, block),
		Grown: grownUp * c.season(),
	})
}

// blocks is the length nearest to a wanted one that is a whole number of steps, one at least.
func blocks(wanted, step time.Duration) time.Duration { return max(wanted.Round(step), step) }

// held is the highest demand of some time: it holds on.
type held struct {
	name   string
	recent *trailing.Max
	top    float64
}

func (h *held) follow(f *Features) { h.top = h.recent.Push(f.Now()) }

func (h *held) median() float64 { return h.top }

func (h *held) maximaTo(dst []float64, windows []int) {
	for i := range windows {
		dst[i] = h.top
	}
}

func (h *held) title() string { return h.name }

func (h *held) path(steps int) forecast.Forecast {
	out := forecast.Forecast{Point: make([]float64, steps), StdErr: make([]float64, steps)}
	for i := range steps {
		out.Point[i], out.StdErr[i] = h.top, math.Sqrt(float64(i+1))
	}
	return out
}

// modelled is a model on the means of blocks.
type modelled struct {
	*Model
	scratch []float64
}

// push tells the model of what arrived. Of a demand that was at least so much it is told only where that is above what it has
// forecast.
func (m *modelled) push(s *Sample) {
	known := s.Arrived
	if s.AtLeast && known < m.Max() {
		known = math.NaN()
	}
	m.Push(known)
}

func (m *modelled) median() float64 { return m.Max() }

func (m *modelled) maximaTo(dst []float64, windows []int) {
	m.scratch = m.MaximaTo(dst, windows, m.scratch)
}

func (m *modelled) err() error                       { return m.Err() }
func (m *modelled) title() string                    { return m.Title() }
func (m *modelled) path(steps int) forecast.Forecast { return m.Path(steps) }

// again is the last season: over the lead window the peak that came then.
type again struct {
	modelled
	features *Features
}

func (a *again) median() float64 { return a.features.LastSeason() }

func (a *again) maximaTo(dst []float64, windows []int) {
	a.modelled.maximaTo(dst, windows)
	for i, w := range windows {
		if w == a.features.window {
			dst[i] = a.median()
		}
	}
}

// regressed is the pooled quantile regression. It knows the lead window only.
type regressed struct {
	*Learner
	peak Peak
	// least is the least spread, as a share of the median.
	least float64
}

func (r *regressed) median() float64 {
	r.peak = r.Window()
	r.peak.Spread = math.Max(r.peak.Spread, r.least*r.peak.Median)
	if math.IsNaN(r.Features().Now()) {
		return math.NaN()
	}
	return r.peak.Median
}

func (r *regressed) maximaTo(dst []float64, windows []int) {
	for i, w := range windows {
		dst[i] = math.NaN()
		if w == r.Features().window {
			dst[i] = r.peak.Median
		}
	}
}

func (*regressed) title() string { return "Quantile regression" }
