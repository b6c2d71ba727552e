package simulate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
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
		v, err := simulate.OracleValues(s, 2*time.Minute, s.Step)
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
			func(forecast.Series) simulate.Policy { return simulate.NewObserved() },
			[]float64{gap, 1, 4, 4, 4, 2},
		},
		"the maximum of three minutes": {
			[]float64{1, 4, 2, gap, 1, gap, gap, gap, 7, 9},
			func(forecast.Series) simulate.Policy { return simulate.NewMax(3*time.Minute, time.Minute) },
			[]float64{gap, 1, 4, 4, 4, 2, 1, 1, gap, 7},
		},
		"now, and five minutes ago with the minute after": {
			[]float64{1, 2, 9, 3, 1, 1, 1, 1, 1, 1, 1},
			func(forecast.Series) simulate.Policy {
				return simulate.NewOffset(time.Minute, time.Minute, 5*time.Minute)
			},
			[]float64{gap, 1, 2, 9, 3, 1, 2, 9, 9, 3, 1},
		},
		"what will be observed within two minutes": {
			[]float64{1, 2, 9, 3, 1, 1, gap, 1},
			oracle,
			[]float64{2, 9, 9, 9, 3, 1, 1, 1},
		},
	} {
		equal(t, name, tt.want, values(t, minutes(tt.demand...), tt.policy(minutes(tt.demand...))))
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

// workload is one of 1 to 1000 replicas that serve 1 each and take five minutes.
func played(s forecast.Series) simulate.Config {
	return simulate.Config{
		Demand: s,
		Spec: sim.Spec{
			Capacity: 1, PodLead: sim.Constant(5 * time.Minute), Sync: s.Step,
			HPA: hpa.Spec{
				Min: 1, Max: 1000, Cluster: hpa.DefaultCluster(),
				Metrics: []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: 1000}},
			},
		},
	}
}

// Whatever comes after a time, what was served up to it is the same to the last bit.
func TestCausality(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	s := daily(4, 2)
	cut := s.Len() * 3 / 4
	other := forecast.Series{Start: s.Start, Step: s.Step, Values: append([]float64{}, s.Values...)}
	random := rand.New(rand.NewPCG(3, 4))
	for i := cut; i < other.Len(); i++ {
		other.Values[i] = 1000 * random.Float64()
	}
	for name, of := range map[string]func() simulate.Policy{
		"observed": func() simulate.Policy { return simulate.NewObserved() },
		"max":      func() simulate.Policy { return simulate.NewMax(15*time.Minute, s.Step) },
		"offset":   func() simulate.Policy { return simulate.NewOffset(5*time.Minute, s.Step, day, 7*day) },
		"forewarm": func() simulate.Policy { return simulate.NewForewarm(objectiveConfig(t, s, 0.01)) },
		"loop":     func() simulate.Policy { return loop(t, s.Step, windowpeak.SES) },
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
