package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// labelled is a source that also answers by label, always with the same.
type labelled struct {
	*demandSource

	answer map[string]float64
	err    error
	// asked are the ends of the queries.
	asked []time.Time
}

func (l *labelled) FetchByLabel(_ context.Context, q refresh.Query, label string) (map[string]float64, error) {
	if label != "workload" || q.Expr != "workloads" || q.Namespace != "inference" {
		return nil, fmt.Errorf("asked for %q of %q", label, q.Expr)
	}
	l.asked = append(l.asked, q.To)
	return l.answer, l.err
}

// counted is a diagnosis that says how many workloads there are.
type counted struct{ about string }

func (c counted) Explain(ask func(expr, label string) (map[string]float64, error)) (string, error) {
	found, err := ask("workloads", "workload")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d workloads report %s", len(found), c.about), nil
}

// While a Forecast has no value, its conditions and the error of a request say why, and the source is asked for that every five minutes. The
// samples end after ten minutes, and are back after 40: the newest one is of the minute before.
func TestTheCauseIsNamedWhileThereIsNoValue(t *testing.T) {
	for name, c := range map[string]struct {
		err    error // of the query for samples, while there is none; nil if the newest are only missing
		ask    error // of the queries for the cause
		from   int   // the minute from which on there is no sample
		cause  string
		asked  []int
		reason string
	}{
		"never a sample":                {err: series.ErrNoSeries, from: -1e9, cause: "2 workloads report it", asked: []int{0, 5, 10, 15, 20, 25, 30, 35, 40}, reason: "NoSeries"},
		"no series any more":            {err: series.ErrNoSeries, from: 10, cause: "2 workloads report it", asked: []int{19, 24, 29, 34, 39}, reason: "NoSeries"},
		"a series without new samples":  {from: 10, cause: "2 workloads report it", asked: []int{19, 24, 29, 34, 39}},
		"a source that does not answer": {err: series.ErrUnavailable, from: 10},
		"a cause that cannot be found":  {err: series.ErrNoSeries, ask: errors.New("422"), from: 10, asked: []int{19, 24, 29, 34, 39}, reason: "NoSeries"},
	} {
		t.Run(name, func(t *testing.T) {
			missing := func(at time.Time) bool {
				minute := int(at.Sub(noon) / time.Minute)
				return minute >= c.from && minute < 40
			}
			source := &labelled{answer: map[string]float64{"Deployment/a": 1, "Deployment/b": 2}, err: c.ask}
			source.demandSource = &demandSource{demand: func(at time.Time) float64 {
				if missing(at) {
					return math.NaN()
				}
				return daily(at)
			}}
			source.fail = func(q refresh.Query) error {
				if c.err != nil && missing(q.To) {
					return fmt.Errorf("%w: http://prometheus: sum(kube_pod_owner)", c.err)
				}
				return nil
			}
			one := jobOf("llama")
			one.Diagnosis = counted{"it"}
			jobs := fixedJobs{one}
			loop, _ := newLoop(t, source, jobs)
			for minute := range 45 {
				if minute == 30 {
					jobs[0].Lead += time.Minute // What is measured makes a new worker, and is no reason to ask again.
				}
				now := noon.Add(time.Duration(minute) * time.Minute)
				e := entry(t, loop.Step(t.Context(), now), "llama")
				_, err := e.Answer(decide.Overrides{}, now)
				ready := condition(t, e, snapshot.ConditionReady).Message
				switch {
				case minute > 41:
					if err != nil || strings.Contains(ready, "workloads") {
						t.Errorf("minute %d, with samples: %s: %v", minute, ready, err)
					}
				case minute <= 40 && !e.State.Serves() && c.cause != "":
					if !strings.HasPrefix(ready, c.cause) || !strings.Contains(err.Error(), c.cause) {
						t.Errorf("minute %d: %s: %s; the error of a request: %v", minute, e.State, ready, err)
					}
					source := condition(t, e, snapshot.ConditionSource)
					if c.reason != "" && (source.Reason != c.reason || source.Message != c.cause) {
						t.Errorf("minute %d: %+v", minute, source)
					}
				case strings.Contains(ready, "workloads"):
					t.Errorf("minute %d: %s: %s", minute, e.State, ready)
				}
			}
			var asked []int
			for _, at := range source.asked {
				asked = append(asked, int(at.Add(step).Sub(noon)/time.Minute))
			}
			if fmt.Sprint(asked) != fmt.Sprint(c.asked) {
				t.Errorf("asked at minutes %v, want %v", asked, c.asked)
			}
		})
	}
}
