package policy_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

const day = 24 * time.Hour

func start() time.Time { return time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC) }

// minutes is a demand in steps of a minute, so that what is observed is the step before.
func minutes(values ...float64) forecast.Series {
	return forecast.Series{Start: start(), Step: time.Minute, Values: values}
}

func values(t *testing.T, s forecast.Series, p simulate.Policy) []float64 {
	t.Helper()
	out, err := simulate.ServedValues(s, s.Step, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestServed(t *testing.T) {
	gap := math.NaN()
	oracle := func(s forecast.Series) simulate.Policy {
		v, err := policy.OracleValues(s, 2*time.Minute, s.Step)
		if err != nil {
			t.Fatal(err)
		}
		return simulate.NewTape(v)
	}
	for name, tt := range map[string]struct {
		demand []float64
		policy func(forecast.Series) simulate.Policy
		want   []float64
	}{
		"what is observed, and over a gap what was": {
			[]float64{1, 4, gap, gap, 2, 9},
			func(forecast.Series) simulate.Policy { return policy.NewObserved() },
			[]float64{gap, 1, 4, 4, 4, 2},
		},
		"the maximum of three minutes": {
			[]float64{1, 4, 2, gap, 1, gap, gap, gap, 7, 9},
			func(forecast.Series) simulate.Policy { return policy.NewMax(3*time.Minute, time.Minute) },
			[]float64{gap, 1, 4, 4, 4, 2, 1, 1, gap, 7},
		},
		"now, and five minutes ago with the minute after": {
			[]float64{1, 2, 9, 3, 1, 1, 1, 1, 1, 1, 1},
			func(forecast.Series) simulate.Policy {
				return policy.NewOffset(time.Minute, time.Minute, 5*time.Minute)
			},
			[]float64{gap, 1, 2, 9, 3, 1, 2, 9, 9, 3, 1},
		},
		"what will be observed within two minutes": {
			[]float64{1, 2, 9, 3, 1, 1, gap, 1},
			oracle,
			[]float64{2, 9, 9, 9, 3, 1, 1, 1},
		},
	} {
		got := values(t, minutes(tt.demand...), tt.policy(minutes(tt.demand...)))
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A day of six slots of four hours: one observation an hour. On the second day the profile is that of the first; on the
// third it moved by 0.4 of the way.
func TestDayProfile(t *testing.T) {
	s := forecast.Series{Start: start(), Step: time.Hour}
	for i := range 72 {
		level := []float64{10, 10, 10, 50, 20, 10}[i%24/4]
		if i >= 24 {
			level = 10
		}
		s.Values = append(s.Values, level)
	}
	got := values(t, s, policy.NewDayProfile(4*time.Hour, 4*time.Hour, time.Hour))
	// The observation of hour i is that of the step before: at the third hour of the first day nothing is known of the
	// slots, and 10 is observed.
	if !math.IsNaN(got[0]) || got[3] != 10 || got[14] != 50 {
		t.Errorf("the first day serves %v", got[:24])
	}
	// At 1:00 of the second day the slots ahead are those up to 12:00, all 10 (but for one observation of the slot before);
	// from 4:00 on the slot of 12:00 is in reach.
	for hour, want := range map[int]float64{24 + 1: 10, 24 + 4: 40, 24 + 8: 40, 24 + 12: 40, 48 + 8: 28} {
		// In the slot of 12:00 the first observation is still of the one before: a mean of (10 + 3·50)/4 = 40.
		if !(math.Abs(got[hour]-want) <= 1e-9) {
			t.Errorf("hour %d: %v, want %v", hour, got[hour], want)
		}
	}
}

// daily is days of 5-minute demand with a peak in the afternoon.
func daily(days int, seed uint64) forecast.Series {
	random := rand.New(rand.NewPCG(seed, 9))
	s := forecast.Series{Start: start(), Step: time.Minute}
	for i := range days * 24 * 60 {
		hour := float64(i) / 60
		v := 20 + 15*math.Cos((hour-15)*math.Pi/12) + random.NormFloat64()
		if random.IntN(1000) == 0 {
			v = math.NaN()
		}
		s.Values = append(s.Values, math.Max(v, 0))
	}
	return s
}

func holtWinters(t *testing.T, refresh time.Duration) *policy.Model {
	t.Helper()
	return model(t, windowpeak.BlockModelConfig{
		Model: smoothing.HoltWinters{Period: 288, Trend: smoothing.DampedTrend}, Block: 5 * time.Minute,
		Window: 10 * time.Minute, History: 14 * day, Refit: 24 * time.Hour, Step: refresh,
	})
}

func model(t *testing.T, m windowpeak.BlockModelConfig) *policy.Model {
	t.Helper()
	p, err := policy.NewModel(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Once it has seen two days, Holt-Winters serves the rise before it comes.
func TestModelIsAhead(t *testing.T) {
	s := daily(4, 1)
	got := values(t, s, holtWinters(t, s.Step))
	observed := values(t, s, policy.NewObserved())
	lead, n := 0.0, 0
	for i := 3 * 24 * 60; i < s.Len(); i++ {
		if got[i] < observed[i] {
			t.Fatalf("minute %d: %v below the observed %v", i, got[i], observed[i])
		}
		if hour := i / 60 % 24; hour >= 6 && hour < 12 {
			lead += got[i] - observed[i]
			n++
		}
	}
	// The morning rises by 15·π/12 an hour at most, two thirds of that on average: 0.44 in the ten minutes ahead. The
	// maximum with a noisy observation adds more.
	if mean := lead / float64(n); mean < 0.44 || mean > 2 {
		t.Errorf("in the morning %v more than what is observed, want about 0.44 and some noise", mean)
	}
}

// workload is one of 1 to 1000 replicas that serve 1 each and take five minutes.
func played(s forecast.Series) simulate.Config {
	return simulate.Config{
		Demand: s,
		Spec: hpasim.Spec{
			Capacity: 1, PodLead: hpasim.Constant(5 * time.Minute), Sync: s.Step,
			HPA: hpa.Spec{
				Min: 1, Max: 1000, Cluster: hpa.DefaultCluster(),
				Metrics: []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: 1000}},
			},
		},
	}
}

func tuned(t *testing.T, objective float64, s forecast.Series, prior policy.Scores) *policy.Tuned {
	t.Helper()
	r, err := policy.NewRehearsal(played(s), policy.AllCandidates())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.NewTuned(objective, r, prior)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// On a steady demand the tuning ends at the cheapest candidate that is not late: the full capacity leaves no room for the
// least noise, and half of it is a waste.
func TestTunedFindsTheTarget(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	s := forecast.Series{Start: start(), Step: time.Minute}
	for range 5 * 24 * 60 {
		s.Values = append(s.Values, 40+random.NormFloat64())
	}
	got := values(t, s, tuned(t, 0.01, s, policy.Scores{}))
	if first := got[1] / 40; first < 4.5 {
		t.Errorf("at first %v of the demand, want the most careful candidate, that of a fifth", first)
	}
	if last := got[len(got)-1] / 40; last < 1 || last > 1.2 {
		t.Errorf("at last %v of the demand, want 1 to 1.2", last)
	}
	// With a prior that knows as much, it starts there.
	prior := policy.Scores{}
	for _, c := range policy.AllCandidates() {
		late := 0.0
		if c.Share > 0.9 {
			late = 1
		}
		prior.Late, prior.Cost = append(prior.Late, late), append(prior.Cost, 1/c.Share)
	}
	if first := values(t, s, tuned(t, 0.01, s, prior))[1] / 40; first < 1.05 || first > 1.2 {
		t.Errorf("with a prior at first %v of the demand, want 1/0.9", first)
	}
}

func TestTunedIsChecked(t *testing.T) {
	s := daily(1, 1)
	r, err := policy.NewRehearsal(played(s), policy.AllCandidates())
	if err != nil {
		t.Fatal(err)
	}
	for _, objective := range []float64{0, 1, -1, math.NaN()} {
		if _, err := policy.NewTuned(objective, r, policy.Scores{}); err == nil {
			t.Errorf("an objective of %v is no error", objective)
		}
	}
	if _, err := policy.NewTuned(0.01, r, policy.Scores{Late: []float64{1}, Cost: []float64{1}}); err == nil {
		t.Error("a prior of one score is no error")
	}
	broken := played(s)
	broken.Capacity = 0
	if _, err := policy.NewRehearsal(broken, policy.AllCandidates()); err == nil {
		t.Error("no capacity is no error")
	}
}

// Whatever comes after a time, what was served up to it is the same to the last bit.
func TestCausality(t *testing.T) {
	t.Parallel()
	s := daily(4, 2)
	cut := s.Len() * 3 / 4
	other := forecast.Series{Start: s.Start, Step: s.Step, Values: append([]float64{}, s.Values...)}
	random := rand.New(rand.NewPCG(3, 4))
	for i := cut; i < other.Len(); i++ {
		other.Values[i] = 1000 * random.Float64()
	}
	for name, of := range map[string]func() simulate.Policy{
		"observed":    func() simulate.Policy { return policy.NewObserved() },
		"max":         func() simulate.Policy { return policy.NewMax(15*time.Minute, s.Step) },
		"offset":      func() simulate.Policy { return policy.NewOffset(5*time.Minute, s.Step, day, 7*day) },
		"day profile": func() simulate.Policy { return policy.NewDayProfile(5*time.Minute, time.Hour, s.Step) },
		"tuned":       func() simulate.Policy { return tuned(t, 0.01, s, policy.Scores{}) },
		"forewarm":    func() simulate.Policy { return forewarm(t, objectiveConfig(t, s, 0.01)) },
		"Holt-Winters": func() simulate.Policy {
			return holtWinters(t, s.Step)
		},
		"ARIMA": func() simulate.Policy {
			return model(t, windowpeak.BlockModelConfig{
				Model: arima.Auto{MaxD: 1}, Block: 5 * time.Minute, Window: 6 * time.Minute, History: day, Refit: 12 * time.Hour,
				Step: s.Step,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := values(t, s, of()), values(t, other, of())
			// The value of a step is decided before its demand arrives.
			for i := range cut + 1 {
				if math.Float64bits(one[i]) != math.Float64bits(two[i]) {
					t.Fatalf("minute %d: %v, with another future from minute %d on %v", i, one[i], cut, two[i])
				}
			}
			if cmp.Equal(one[cut+1:], two[cut+1:], cmpopts.EquateNaNs()) {
				t.Error("another demand makes no difference even afterwards")
			}
		})
	}
}
