package refresh_test

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Samples that cannot be demand are named, with their number, in Ready, in the error of a request and in DataClean. Steps are 30 s, and the
// newest step at noon is that of 11:59:30.
func TestDroppedSamplesAreNamed(t *testing.T) {
	inf, nan, gone := math.Inf(1), series.Stored(math.NaN()), math.NaN()
	const (
		infinite = "are infinite: check the query for a division by 0"
		huge     = "are above 1e15, the largest demand that Forewarm accepts: check the query for a wrong unit"
		notANaN  = "are not a number (NaN): check the query for a division of 0 by 0"
	)
	// bad is a demand whose samples of the newest minutes are others.
	bad := func(minutes float64, value func(step int) float64) func(time.Time) float64 {
		from := noon.Add(-time.Duration(minutes * float64(time.Minute)))
		return func(at time.Time) float64 {
			if at.Before(from) {
				return daily(at)
			}
			return value(int(at.Sub(from) / (30 * time.Second)))
		}
	}
	always := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	const all = 9 * 24 * 60
	for name, c := range map[string]struct {
		demand func(time.Time) float64
		state  snapshot.State
		ready  string
		clean  string // the message of DataClean; that of ready by default
	}{
		"infinite for 12 minutes":         {bad(12, always(inf)), snapshot.Stale, "the newest 24 samples " + infinite, ""},
		"minus infinite":                  {bad(12, always(math.Inf(-1))), snapshot.Stale, "the newest 24 samples " + infinite, ""},
		"above 1e15":                      {bad(12, always(5e15)), snapshot.Stale, "the newest 24 samples " + huge, ""},
		"0/0 at every step":               {bad(12, always(nan)), snapshot.Stale, "the newest 24 samples " + notANaN, ""},
		"while the fallback still serves": {bad(3, always(inf)), snapshot.FallingBack, "the newest 6 samples " + infinite, ""},
		"all of them above 1e15":          {bad(all, always(5e15)), snapshot.Pending, "the newest # samples " + huge, ""},
		"all of them 0/0":                 {bad(all, always(nan)), snapshot.Pending, "the newest # samples " + notANaN, ""},
		"one, which is the only one": {
			func(at time.Time) float64 {
				if at.Equal(noon.Add(-time.Minute)) {
					return -3
				}
				return gone
			}, snapshot.Pending, "the newest sample is negative: check the query for a subtraction", "",
		},
		"of several kinds, with gaps in between": {
			bad(12, func(i int) float64 { return []float64{inf, -1, gone, inf}[i%4] }), snapshot.Stale,
			"the newest 18 samples are not valid demand (6 negative, 12 infinite): check the query for a subtraction or a delta() and for a " +
				"division by 0", "",
		},
		"bad ones, and then none at all": {
			bad(15, func(i int) float64 {
				if i < 6 {
					return inf
				}
				return gone
			}), snapshot.Stale, "the newest sample is 15m30s old", "either",
		},
		"gaps": {bad(12, always(gone)), snapshot.Stale, "the newest sample is 12m30s old", "none"},
	} {
		one := jobOf("llama")
		one.Step, one.Models = 30*time.Second, []string{"ses"}
		for when, from := range map[string]time.Duration{"begun at the end": 0, "seen as they came": 20 * time.Minute} {
			source := &demandSource{demand: c.demand}
			loop, _ := newLoop(t, source, fixedJobs{one})
			var e *snapshot.ForecastSnapshot
			for at := noon.Add(-from); !at.After(noon); at = at.Add(one.Step) {
				e = entry(t, loop.Step(t.Context(), at), "llama")
			}
			read := strings.NewReplacer("#", strconv.Itoa(int(noon.Sub(source.queries[0].From)/one.Step)))
			ready, clean := read.Replace(c.ready), read.Replace(cmp.Or(c.clean, c.ready))
			if e.State != c.state || !strings.HasPrefix(condition(t, e, snapshot.ConditionReady).Message, ready) {
				t.Errorf("%s, %s: %s", name, when, e.ReadyMessage())
			}
			if _, err := e.Answer(
				decide.Overrides{},
				noon,
			); !c.state.Serves() &&
				!strings.Contains(err.Error(), ready) {
				t.Errorf("%s, %s: the error of a request is %v", name, when, err)
			}
			switch got := e.Conditions; {
			case clean == "either": // The history that is read at the end has the bad ones, what is new then has not.
			case clean != "none":
				if got := condition(t, e, snapshot.ConditionData); got.Reason != snapshot.ReasonSamplesDropped ||
					!strings.HasPrefix(got.Message, clean) {
					t.Errorf("%s, %s: %+v", name, when, got)
				}
			case slices.ContainsFunc(got, func(c snapshot.Condition) bool { return c.Reason == snapshot.ReasonSamplesDropped }):
				t.Errorf("%s, %s: %+v", name, when, got)
			}
		}
	}
}

// Good samples end it, and samples that are read again count once.
func TestDroppedSamplesAreCountedOnce(t *testing.T) {
	source := &demandSource{demand: func(at time.Time) float64 {
		if minute := at.Sub(noon) / time.Minute; minute >= 0 && minute < 70 {
			return math.Inf(1)
		}
		return daily(at)
	}}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	for minute := range 80 {
		e := entry(t, loop.Step(t.Context(), noon.Add(time.Duration(minute)*step)), "llama")
		if minute == 70 {
			if got := e.ReadyMessage(); !strings.HasPrefix(got, "Stale: the newest 70 samples are infinite") {
				t.Errorf("after 70 minutes: %s", got)
			}
		}
		if minute == 71 && (e.State != snapshot.Ready || strings.Contains(e.ReadyMessage(), "infinite")) {
			t.Errorf("with a good sample: %s", e.ReadyMessage())
		}
	}
}
