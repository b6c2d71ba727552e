package refresh_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// histories is how many TestNeverAbsurd plays; `make fuzz-values` plays thousands.
var histories = flag.Int("histories", 32, "made histories that TestNeverAbsurd plays")

const (
	grid = 30 * time.Second
	// corroboration is how long a level must last to be believed, lead the lead window: both in steps.
	corroboration = 4
	lead          = 13
	// settled is how long after a suspect nothing is left of it: a lead window and ten minutes.
	settled = lead + 20
)

// What happens in a made history.
const (
	nothing = "nothing"
	glitch  = "a glitch"
	burst   = "a burst"
	launch  = "a launch"
	level   = "another level"
	outage  = "an outage"
	wild    = "anything"
)

// syntheticHistory is a history in which something happens, and the same without it.
type syntheticHistory struct {
	name         string
	kind         string
	values, twin []float64
	event, over  int // steps
	height       float64
	target       float64
	settings     decide.Settings
	capacity     int32
	models       []string
	// saturated are the steps at which the limit signal is above 0; nil where there is no such signal.
	saturated []bool
}

// makeHistory makes that of a seed. Values are single precision, as the store keeps them.
func makeHistory(seed uint64) syntheticHistory {
	rng := rand.New(rand.NewPCG(seed, 20))
	m := syntheticHistory{kind: []string{glitch, burst, launch, wild, glitch, level, glitch, outage}[seed/2%8]}
	before := 720 + rng.IntN(480) // six to ten hours
	after := settled + 20
	m.settings = decide.Settings{Quantile: []float64{0.95, 0.99, 0.5}[rng.IntN(3)], Lead: 5 * time.Minute}
	if seed%2 == 0 {
		m.settings = decide.Settings{Late: 0.01, Lead: 5 * time.Minute}
		m.target, m.capacity = math.Exp(rng.Float64()*8), 1<<30
		if rng.IntN(4) == 0 {
			m.capacity = 20
		}
		m.settings.Target = m.target
	}
	m.settings.Mode = []decide.Mode{decide.Floor, decide.Floor, decide.Floor, decide.Forecast, decide.Shadow}[rng.IntN(5)]
	if seed%8 != 0 {
		m.models = []string{"ses", "holt-winters"} // The others take their time to fit.
	}
	calm := math.Exp(rng.Float64()*12 - 2)
	usual := usualDemand(rng, calm)
	if m.kind == launch && rng.IntN(2) == 0 {
		usual = func(int) float64 { return 0 }
	}
	for i := range before + after + 40 {
		m.twin = append(m.twin, usual(i))
	}
	m.event = before
	m.happen(rng, calm)
	m.values = m.values[:m.over+after]
	m.twin = m.twin[:len(m.values)]
	for i := range m.values {
		m.values[i], m.twin[i] = float64(float32(m.values[i])), float64(float32(m.twin[i]))
	}
	m.name = fmt.Sprintf("history %d: %s in %.4g", seed, m.kind, calm)
	if rng.IntN(4) == 0 && m.kind != glitch { // A saturated glitch is one with another cause.
		for range m.values {
			m.saturated = append(m.saturated, rng.IntN(20) == 0)
		}
	}
	return m
}

// usualDemand is one of several kinds.
func usualDemand(rng *rand.Rand, calm float64) func(int) float64 {
	noise := rng.Float64() * 0.1
	switch rng.IntN(5) {
	case 0: // A cycle of three hours.
		return func(i int) float64 {
			return calm * (1 + 0.5*math.Sin(float64(i)/57)) * math.Max(0, 1+noise*rng.NormFloat64())
		}
	case 1: // Requests that come one by one.
		return func(int) float64 { return float64(rng.IntN(4)) }
	case 2: // A batch every hour.
		return func(i int) float64 {
			if i%120 < 12 {
				return calm * (3 + rng.Float64())
			}
			return calm
		}
	default:
		return func(int) float64 { return calm * math.Max(0, 1+noise*rng.NormFloat64()) }
	}
}

// happen writes what happens.
func (m *syntheticHistory) happen(rng *rand.Rand, calm float64) {
	m.values = slices.Clone(m.twin)
	top := slices.Max(m.twin)
	switch m.kind {
	case glitch, burst:
		n := 1 + rng.IntN(corroboration)
		if m.kind == burst {
			n = corroboration + 1 + rng.IntN(10-corroboration)
		}
		m.over = m.event + n
		factor := 3 * math.Exp(rng.Float64()*math.Log(1e9/3))
		for i := m.event; i < m.over; i++ {
			m.values[i] = math.Min(math.Max(top, 1)*factor, 1e14) * (1 + 0.05*rng.Float64())
			m.height = math.Max(m.height, m.values[i])
		}
	case launch:
		m.over = m.event + corroboration + lead + 1
		height := math.Max(top, 1) * 3 * math.Exp(rng.Float64()*6)
		for i := m.event; i < len(m.values); i++ {
			m.values[i] = height * math.Max(0.5, 1+0.03*rng.NormFloat64())
		}
	case level:
		m.over = m.event + 40
		factor := math.Exp(rng.NormFloat64() * 2)
		for i := m.event; i < len(m.values); i++ {
			m.values[i] *= factor
		}
	case outage:
		m.over = m.event + 1 + rng.IntN(39)
		during := []float64{0, math.NaN(), -1}[rng.IntN(3)]
		for i := m.event; i < m.over; i++ {
			m.values[i] = during
		}
	default:
		m.over = m.event + 40
		for i := m.event; i < m.over; i++ {
			m.values[i] = anyValue(rng, m.twin[i], calm)
		}
	}
}

// anyValue is a sample that may be of any kind.
func anyValue(rng *rand.Rand, usual, calm float64) float64 {
	switch rng.IntN(12) {
	case 0:
		return math.NaN()
	case 1:
		return 0
	case 2:
		return -usual
	case 3:
		return math.Inf(1)
	case 4:
		return 1e15
	case 5:
		return math.SmallestNonzeroFloat64
	case 6:
		return math.MaxFloat64
	case 7, 8:
		return calm * math.Exp(rng.Float64()*20)
	default:
		return usual
	}
}

// limitSignal is the query that says where the service was saturated.
const limitSignal = "limitSignal"

// Fetch answers from memory.
func (m *syntheticHistory) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	found := false
	for i := range out.Values {
		at := int(out.TimeAt(i).Sub(noon) / grid)
		out.Values[i] = math.NaN()
		if !out.TimeAt(i).Before(noon) && at < len(m.values) {
			out.Values[i], found = m.values[at], true
			if q.Expr == limitSignal {
				out.Values[i] = 0
				if m.saturated[at] {
					out.Values[i] = 1
				}
			}
		}
	}
	if !found {
		return forecast.Series{}, series.ErrNoSeries
	}
	return out, nil
}

// play steps the loop from shortly before the event to the end, and hands on every entry with its newest sample.
func (m *syntheticHistory) play(t *testing.T, each func(at int, now time.Time, e *snapshot.ForecastSnapshot)) {
	t.Helper()
	tg := refresh.Job{
		Key:        snapshot.Key{Namespace: "inference", Name: "llama"},
		Generation: 1,
		Expr:       "demand",
		Step:       grid,
		History:    14 * 24 * time.Hour,
		Lead:       5 * time.Minute,
		StaleAfter: 10 * time.Minute,
		Models:     m.models,
		Settings:   m.settings,
	}
	if m.target > 0 {
		tg.Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: hpa.Spec{
			Min: 1, Max: m.capacity, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{
				Source: hpa.External, Type: hpa.AverageValue, Target: max(1, int64(m.target*1000)),
			}},
		}}}
	}
	if m.saturated != nil {
		tg.SideQueries = refresh.SideQueries{refresh.Saturated: limitSignal}
	}
	loop, _ := newLoop(t, m, fixedJobs{tg})
	for at := m.event - 2; at < len(m.values); at++ {
		now := noon.Add(time.Duration(at+1) * grid) // The samples of the running step may still come.
		each(at, now, entry(t, loop.Step(t.Context(), now), "llama"))
	}
}

// servedValues are all values that an entry serves, by what is asked.
func servedValues(e *snapshot.ForecastSnapshot, now time.Time) map[string]float64 {
	out := map[string]float64{}
	for name, s := range map[string]decide.Overrides{
		"itself": {}, "its floor": {Mode: decide.Floor}, "shadow": {Mode: decide.Shadow}, "as forecast": {Mode: decide.Forecast},
		"the .995 quantile": {Quantile: 0.995}, "next to nothing late": {Late: 1e-6},
		"the last value": {Model: "last-value"}, "SES": {Model: "ses", Quantile: 0.99},
		"Holt-Winters": {Model: "holt-winters"}, "a minute": {Horizon: time.Minute}, "an hour": {Horizon: time.Hour},
	} {
		if answer, err := e.Answer(s, now); err == nil {
			out[name] = answer.Value
		}
	}
	for _, w := range warmpool.OutlookOf(e, now).Windows {
		for i, q := range w.Quantiles {
			out[fmt.Sprintf("a pool, %s, level %d", w.Horizon, i)] = q
		}
	}
	for i, p := range e.Path {
		out[fmt.Sprintf("path %d", i)] = p.Point
		out[fmt.Sprintf("path %d, upper", i)] = p.Quantiles[2]
	}
	return out
}

// referenceBound judges the base the plain way, sample by sample: the highest level that all samples of a corroboration time had, or
// that three of separate times had.
type referenceBound struct {
	known []float64
	above []spike
	base  float64
	// sure is the highest level that lasted without a gap, row the samples since the newest gap.
	sure float64
	row  []float64
}

type spike struct {
	at int
	v  float64
}

func (p *referenceBound) add(at int, v float64) {
	if !(v >= 0) || v > series.MaxSample {
		p.row = nil
		return
	}
	if p.row = append(p.row, v); len(p.row) > corroboration {
		p.sure = math.Max(p.sure, slices.Min(p.row[len(p.row)-corroboration-1:]))
	}
	p.known = append(p.known, v)
	if n := len(p.known); n > corroboration {
		p.base = math.Max(p.base, slices.Min(p.known[n-corroboration-1:]))
	}
	p.above = append(p.above, spike{at, v})
	p.above = slices.DeleteFunc(p.above, func(s spike) bool { return s.v <= p.base })
	for _, level := range p.above {
		times, last := 0, math.MinInt/2
		for _, s := range p.above {
			if s.v >= level.v && s.at-last > corroboration {
				times, last = times+1, s.at
			}
		}
		if times >= 3 {
			p.base = math.Max(p.base, level.v)
		}
	}
}

// most is the most that may be served: two and a half times the base and, where that may be less than a replica, what is observed.
func (m *syntheticHistory) most(judge *referenceBound, observed float64) float64 {
	most := 2.5 * judge.base
	if judge.sure == 0 || judge.sure < m.target {
		most = math.Max(most, observed)
	}
	return most * (1 + 1e-6)
}

// checkFaces checks all that is served at every step against the bound.
func (m *syntheticHistory) checkFaces(t *testing.T) (served []float64) {
	t.Helper()
	var judge referenceBound
	for i, v := range m.values[:m.event-2] {
		judge.add(i, v)
	}
	said := false
	m.play(t, func(at int, now time.Time, e *snapshot.ForecastSnapshot) {
		judge.add(at, m.values[at])
		// What is observed holds on over gaps.
		observed := slices.Max(append([]float64{0}, finite(m.values[at-2*corroboration:at+1])...))
		for name, v := range servedValues(e, now) {
			if !said && (!(v >= 0) || v > m.most(&judge, observed)) {
				said = true // The others are like it.
				t.Errorf("%s, step %+d: %s serves %v; the demand is %v, the base %v: %s",
					m.name, at-m.event, name, v, m.values[at], judge.base, e.Decision.Reason())
			}
		}
		value := math.NaN()
		if e.State.Serves() {
			// What gets it past the HPA's tolerance is a step: values next to each other are 10 % apart then.
			value = cmp.Or(e.Decision.Ignored, e.Decision.Value)
		}
		served = append(served, value)
	})
	return served
}

func finite(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !(v >= 0) || v > series.MaxSample })
}

// check checks what is served after the event; it says what is wrong with a glitch, of which a few in a hundred may be.
func (m *syntheticHistory) check(t *testing.T) (off string) {
	t.Helper()
	served := m.checkFaces(t)
	at := func(step int) float64 { return served[step-m.event+2] }
	switch m.kind {
	case glitch:
		return m.checkGlitch(t, at)
	case burst:
		for i := m.over + lead; i < len(m.values); i++ {
			if v := at(i); v > math.Max(m.height, 2.5*slices.Max(m.twin))*(1+1e-6) {
				t.Errorf("%s: %d steps after its end %v is served, it was %v high", m.name, i-m.over, v, m.height)
			}
		}
	case launch:
		i := m.event + corroboration + lead
		highest := slices.Max(m.values[:i+1])
		low := math.Min(m.values[i], m.target*float64(m.capacity))
		if m.target == 0 {
			low = m.values[i]
		}
		if m.settings.Mode == decide.Forecast {
			low = 0 // The forecast as it is knows nothing of the floor.
		}
		if v := at(i); v < low*(1-0.05) || v > 2*highest*(1+1e-6) {
			t.Errorf("%s: %v is served a lead window after the corroboration, the demand is %v, at most %v",
				m.name, v, m.values[i], highest)
		}
	}
	return ""
}

// checkGlitch compares with the twin, from a lead window and ten minutes after the glitch on.
func (m *syntheticHistory) checkGlitch(t *testing.T, at func(int) float64) string {
	t.Helper()
	twin := *m
	twin.values, twin.kind = m.twin, nothing
	undisturbed := twin.checkFaces(t)
	for i := m.over + settled; i < len(m.values); i++ {
		if v, want := at(i), undisturbed[i-m.event+2]; math.Abs(v-want) > 0.05*want {
			return fmt.Sprintf("%s × %.3g for %d samples: %d steps later %v is served, %v without it",
				m.name, m.height/slices.Max(m.twin), m.over-m.event, i-m.over, v, want)
		}
	}
	return ""
}

// TestNeverAbsurd: whatever the history, every value that any face serves is finite and no more than the history justifies;
// nothing is left of a glitch; a burst that came once is soon no more than it was; a launch is served.
func TestNeverAbsurd(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	var (
		mu       sync.Mutex
		off      []string
		glitches int
		played   int
	)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for seed := range uint64(*histories) {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			m := makeHistory(seed)
			wrong := m.check(t)
			mu.Lock()
			defer mu.Unlock()
			played++
			if played%250 == 0 {
				t.Logf("%d of %d histories", played, *histories)
			}
			if m.kind == glitch {
				glitches++
			}
			if wrong != "" {
				off = append(off, wrong)
			}
		})
	}
	all.Wait()
	t.Logf("%d histories, %d glitches, %d of them leave something behind: %s", *histories, glitches, len(off),
		strings.Join(off, "\n"))
	if allowed := 1 + glitches/100; len(off) > allowed {
		t.Errorf("%d of %d glitches leave something behind, %d may", len(off), glitches, allowed)
	}
}
