package windowpeak

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// The names of the candidates, as used in specs and selectors.
const (
	Regression  = "regression"
	LastValue   = "last-value"
	RunningMax  = "running-max"
	LastSeason  = "last-season"
	LastWeek    = "last-week"
	SES         = "ses"
	Holt        = "holt"
	HoltWinters = "holt-winters"
	ARIMA       = "arima"
	Auto        = "auto"
)

// CandidateNames returns the names of all candidates in a fixed order.
func CandidateNames() []string {
	return slices.Concat([]string{Regression}, baselines(), FittedModels())
}

// FittedModels are the names of the candidates that are fitted to the demand. Only the configured ones are included.
func FittedModels() []string { return []string{SES, Holt, HoltWinters, ARIMA, Auto} }

// baselines returns the names of the candidates that need no model. They are always included.
func baselines() []string { return []string{LastValue, RunningMax, LastSeason, LastWeek} }

// CanonicalName is the name of a candidate for any spelling (HoltWinters, holt_winters, holt-winters); ok is false if there is
// none.
func CanonicalName(name string) (canonical string, ok bool) {
	name = plainName(name)
	for _, candidate := range CandidateNames() {
		if plainName(candidate) == name {
			return candidate, true
		}
	}
	return "", false
}

// plainName returns a name in lower case, without hyphens, underscores and spaces. It is called for every change of an HPA.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_ ", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

const (
	// shortMemory is the history to which models without a season are fitted. A day is enough, because they have few parameters.
	shortMemory = Day
	// seasonsOfHistory is the number of seasons to which models with a season are fitted.
	seasonsOfHistory = 14
	// slotsOfSeason and coarseSlots are the numbers of blocks in a season. With a season of a day, Holt-Winters has blocks of 1 min. The
	// ensemble, which is more expensive, has blocks of 5 min.
	slotsOfSeason, coarseSlots = 1440, 288
)

// newPredictor returns the predictor of a candidate; nil if the candidate needs a season that the configuration does not have.
//
//nolint:ireturn // One of several.
func (c Config) newPredictor(name string, l *pooledRegression, longest int) (predictor, error) {
	season := c.Season()
	slot := roundToSteps(season/slotsOfSeason, c.Step)
	period := int(season / slot)
	seasonal := season%slot == 0 && period >= 2
	switch name {
	case Regression:
		return &regressionPredictor{pooledRegression: l, least: c.Tolerance / 2}, nil
	case LastValue:
		return &heldPredictor{name: "Last value", recent: series.NewTrailingMax(1)}, nil
	case RunningMax:
		return &heldPredictor{name: "Running maximum", recent: series.NewTrailingMax(c.steps(c.Window))}, nil
	case LastSeason, LastWeek:
		return c.newRepetition(name, l.features)
	case SES:
		return c.newBlockPredictor(smoothing.SES{}, time.Minute, shortMemory)
	case Holt:
		return c.newBlockPredictor(smoothing.Holt{Damped: true}, time.Minute, shortMemory)
	case ARIMA:
		return c.newBlockPredictor(arima.Auto{MaxD: 1}, time.Minute, shortMemory)
	case HoltWinters:
		if !seasonal {
			return nil, nil //nolint:nilnil // There is none.
		}
		m, err := c.newBlockModel(smoothing.HoltWinters{Period: period, Trend: smoothing.DampedTrend}, slot,
			seasonsOfHistory*season)
		if err != nil {
			return nil, err
		}
		m.first = 2*period + 1
		return &blockPredictor{BlockModel: m, seasonal: true}, nil
	case Auto:
		slot = roundToSteps(season/coarseSlots, c.Step)
		m, err := c.newBlockModel(c.ensemble(slot, longest), slot, seasonsOfHistory*season/2)
		if err != nil {
			return nil, err
		}
		return &blockPredictor{BlockModel: m, seasonal: true}, nil
	}
	return nil, fmt.Errorf("window peak: unknown candidate %q, valid names are %v", name, CandidateNames())
}

// newRepetition returns the predictor of the last season or of the last week; nil if the configuration has no such season.
//
//nolint:ireturn // One of two.
func (c Config) newRepetition(name string, f *features) (predictor, error) {
	season := c.Season()
	minute := roundToSteps(season/lastSeasonSlots, c.Step)
	switch {
	case name == LastWeek && season < week:
		return &lastWeekPredictor{lastPeaks: newLastPeaks(c.steps(week), lastWeekSlots), window: f.window}, nil
	case name == LastWeek || season%minute != 0 || season < 2*minute:
		return nil, nil //nolint:nilnil // There is none.
	}
	of, err := c.newBlockModel(naive.Seasonal{Period: int(season / minute)}, minute, season+minute)
	if err != nil {
		return nil, err
	}
	of.early = true
	return &lastSeasonPredictor{blockPredictor: blockPredictor{BlockModel: of, seasonal: true}, features: f}, nil
}

// ensemble returns the configuration of the ensemble. Only its points are used, because quantiles are calibrated as for all other
// candidates.
func (c Config) ensemble(slot time.Duration, longest int) ensemble.Auto {
	window := int((c.Window + slot - 1) / slot)
	out := ensemble.Auto{Horizon: max(12, window, int(time.Duration(longest)*c.Step/slot)+2)}
	for _, season := range c.seasons() {
		if season%slot == 0 && season >= 2*slot {
			out.Seasons = append(out.Seasons, int(season/slot))
		}
	}
	return out
}

func (c Config) newBlockPredictor(of forecast.Model, block, history time.Duration) (*blockPredictor, error) {
	m, err := c.newBlockModel(of, roundToSteps(block, c.Step), history)
	return &blockPredictor{BlockModel: m}, err
}

func (c Config) newBlockModel(of forecast.Model, block, history time.Duration) (*BlockModel, error) {
	return NewBlockModel(BlockModelConfig{
		Model: of, Step: c.Step, Block: block, Window: max(c.Window, block), History: max(history, block),
		MatureAfter: matureSeasons * c.Season(), SkipQuiet: c.SkipQuiet,
	})
}

// roundToSteps rounds a duration to the nearest whole number of steps, at least one.
func roundToSteps(wanted, step time.Duration) time.Duration { return max(wanted.Round(step), step) }

// heldPredictor forecasts the highest demand of the recent past.
type heldPredictor struct {
	name   string
	recent *series.TrailingMax
	top    float64
}

func (h *heldPredictor) follow(f *features) { h.top = h.recent.Push(f.now) }

func (h *heldPredictor) median() float64 { return h.top }

func (h *heldPredictor) maximaTo(dst []float64, windows []int) {
	for i := range windows {
		dst[i] = h.top
	}
}

func (h *heldPredictor) title() string { return h.name }

func (h *heldPredictor) path(steps int) forecast.Forecast {
	out := forecast.Forecast{Point: make([]float64, steps), StdErr: make([]float64, steps)}
	for i := range steps {
		out.Point[i], out.StdErr[i] = h.top, math.Sqrt(float64(i+1))
	}
	return out
}

// blockPredictor forecasts with a model of the means of blocks.
type blockPredictor struct {
	*BlockModel
	// seasonal is true if the model expects today's demand again tomorrow.
	seasonal bool
}

// push records the demand of a step. A lower bound is used only if it is above the model's forecast.
func (m *blockPredictor) push(s *demand.Sample) {
	known := s.Value
	if m.seasonal {
		known = remembered(known, s.Bound.Usual)
	}
	if s.Censored && known < m.median() {
		known = math.NaN()
	}
	m.Push(known)
}

// lastSeasonPredictor repeats the last season. For the lead window, it forecasts the actual peak a season ago.
type lastSeasonPredictor struct {
	blockPredictor
	features *features
}

func (a *lastSeasonPredictor) median() float64 { return a.features.lastSeason.peak() }

func (a *lastSeasonPredictor) maximaTo(dst []float64, windows []int) {
	a.blockPredictor.maximaTo(dst, windows)
	for i, w := range windows {
		if w == a.features.window {
			dst[i] = a.median()
		}
	}
}

// lastWeekPredictor forecasts the actual peak of the same lead window a week ago, for demand that differs by weekday.
type lastWeekPredictor struct {
	lastPeaks
	window int // steps
}

func (w *lastWeekPredictor) follow(f *features) { w.learn(w.window, f.actualPeak, f.exact()) }

func (w *lastWeekPredictor) median() float64 { return w.peak() }

func (w *lastWeekPredictor) maximaTo(dst []float64, windows []int) {
	forLeadWindow(dst, windows, w.window, w.median())
}

func (*lastWeekPredictor) title() string { return "Last week" }

// regressionPredictor forecasts with the pooled quantile regression. It forecasts only the lead window.
type regressionPredictor struct {
	*pooledRegression
	peak Peak
	// least is the smallest spread, as a share of the median.
	least float64
}

func (r *regressionPredictor) median() float64 {
	r.peak = r.forecast()
	r.peak.Spread = math.Max(r.peak.Spread, r.least*r.peak.Median)
	if math.IsNaN(r.features.now) {
		return math.NaN()
	}
	return r.peak.Median
}

func (r *regressionPredictor) maximaTo(dst []float64, windows []int) {
	forLeadWindow(dst, windows, r.features.window, r.peak.Median)
}

// forLeadWindow writes the median for the lead window to dst, and NaN for the other windows.
func forLeadWindow(dst []float64, windows []int, lead int, median float64) {
	for i, w := range windows {
		dst[i] = math.NaN()
		if w == lead {
			dst[i] = median
		}
	}
}

func (*regressionPredictor) title() string { return "Quantile regression" }
