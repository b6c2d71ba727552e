package windowpeak //nolint:testpackage // The models, the features and the regression are internal.

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/naive"
)

func model(t *testing.T, c BlockModelConfig) *BlockModel {
	t.Helper()
	m, err := NewBlockModel(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// maxima are a model's over twelve minutes without demand.
func maxima(m *BlockModel) []float64 {
	var out []float64
	for range 12 {
		out = append(out, m.Push(0))
	}
	return out
}

// A forecast of one more for every block shows which blocks a window touches. Blocks end at minutes 3, 6 and 9; the first
// fit wants two of them. Four minutes from the end of a block end in the second block after it, and so do they two minutes
// later; five minutes reach the third then.
func TestWindow(t *testing.T) {
	p := model(t, BlockModelConfig{
		Model: drift{}, Block: 3 * time.Minute, Window: 4 * time.Minute, History: time.Hour, Refit: 3 * time.Minute,
		Step: time.Minute,
	})
	got := maxima(p)
	if diff := cmp.Diff([]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), 2, 2, 2, 2, 2, 2, 2},
		got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	longer := model(t, BlockModelConfig{
		Model: drift{}, Block: 3 * time.Minute, Window: 5 * time.Minute, History: time.Hour, Refit: 3 * time.Minute,
		Step: time.Minute,
	})
	got = maxima(longer)
	if diff := cmp.Diff([]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), 2, 2, 3, 2, 2, 3, 2},
		got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// drift is a model that forecasts the last value and one more for each step.
type drift struct{ naive.Last }

func (d drift) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := d.Last.Fit(s)
	return drifting{fitted}, err
}

type drifting struct{ forecast.Fitted }

func (d drifting) PointsTo(dst []float64) {
	d.Fitted.PointsTo(dst)
	for i := range dst {
		dst[i] += float64(i + 1)
	}
}

func TestModelConfigIsChecked(t *testing.T) {
	good := BlockModelConfig{
		Model:   naive.Last{},
		Block:   5 * time.Minute,
		Window:  10 * time.Minute,
		History: 24 * time.Hour,
		Refit:   time.Hour,
		Step:    time.Minute,
	}
	for name, spoil := range map[string]func(*BlockModelConfig){
		"no model":                    func(m *BlockModelConfig) { m.Model = nil },
		"no step":                     func(m *BlockModelConfig) { m.Step = 0 },
		"a block between steps":       func(m *BlockModelConfig) { m.Step = 2 * time.Minute },
		"a window within a block":     func(m *BlockModelConfig) { m.Window = time.Minute },
		"no history":                  func(m *BlockModelConfig) { m.History = 0 },
		"a fit more than once a step": func(m *BlockModelConfig) { m.Refit = time.Second },
	} {
		m := good
		spoil(&m)
		if _, err := NewBlockModel(m); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// fits is a model that records when it was fitted, in blocks.
type fits struct {
	naive.Last

	seen  *int
	times *[]int
}

func (f fits) Fit(s forecast.Series) (forecast.Fitted, error) {
	*f.times = append(*f.times, *f.seen)
	return f.Last.Fit(s)
}

// A fit to a day of the weekend waits until a working day is in its history, as a fit at night waits for nothing: nights are in every day.
// It waits three days at most, for a demand that has fallen for good.
func TestAQuietHistoryPostponesAFit(t *testing.T) {
	busyFrom9To17 := func(hour int) float64 {
		if hour%24 < 9 || hour%24 >= 17 {
			return 10
		}
		return 400
	}
	for name, c := range map[string]struct {
		skip   bool
		demand func(hour int) float64
		// last is the hour of the fit that is due after 256 hours.
		last int
	}{
		"every day is busy": {true, busyFrom9To17, 256},
		// Days 9 and 10 are quiet. On day 11 the history is busy enough after three hours of demand.
		"a weekend": {true, func(hour int) float64 {
			if hour/24 == 9 || hour/24 == 10 {
				return 10
			}
			return busyFrom9To17(hour)
		}, 264 + 9 + 3},
		"a weekend that is not skipped": {false, func(hour int) float64 {
			if hour/24 == 9 || hour/24 == 10 {
				return 10
			}
			return busyFrom9To17(hour)
		}, 256},
		"a demand that has gone": {true, func(hour int) float64 {
			if hour > 220 {
				return 1
			}
			return busyFrom9To17(hour)
		}, 256 + 72},
		"no demand": {true, func(int) float64 { return 0 }, 256},
		"gaps":      {true, func(int) float64 { return math.NaN() }, 256},
	} {
		var at int
		var times []int
		m := model(t, BlockModelConfig{
			Model: fits{
				seen:  &at,
				times: &times,
			},
			Step:      time.Hour,
			Block:     time.Hour,
			Window:    time.Hour,
			History:   Day,
			SkipQuiet: c.skip,
		})
		for ; at < 30*24; at++ {
			m.Push(c.demand(at))
		}
		if got := times[len(times)-1] + 1; got != c.last {
			t.Errorf("%s: the last fit was after %d hours, want %d (all: %v)", name, got, c.last, times)
		}
	}
}
