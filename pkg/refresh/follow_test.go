package refresh_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

func decoding(at time.Time) float64 {
	return daily(at) * (2.5 + 0.2*math.Sin(float64(at.Unix())/5000))
}

// pair are a Forecast and one that follows it.
func pair(change func(leader, follower *refresh.Job)) fixedJobs {
	leader, follower := jobOf("prefill"), jobOf("decode")
	leader.Expr, follower.Expr, follower.Leader = "prefill", "decode", "prefill"
	if change != nil {
		change(&leader, &follower)
	}
	return fixedJobs{leader, follower}
}

func playPair(t *testing.T, jobs fixedJobs) (leader, follower *snapshot.ForecastState) {
	t.Helper()
	from := sources{"prefill": {demand: daily}, "decode": {demand: decoding}}
	loop, _ := newLoop(t, from, jobs)
	s := loop.Step(t.Context(), noon)
	return s.Get(snapshot.Key{Namespace: "inference", Name: "prefill"}), entry(t, s, "decode")
}

// A Forecast follows another one by the step, with the ratio of their demands.
func TestAForecastFollowsAnother(t *testing.T) {
	leader, follower := playPair(t, pair(nil))
	ratio := follower.Decision.Leader.Ratio
	if ratio.Usual < 2.4 || ratio.Usual > 2.6 || ratio.Low > 2.35 || ratio.High < 2.6 || ratio.High > 2.7 {
		t.Errorf("the ratio %+v", ratio)
	}
	if got, want := follower.Decision.Value, leader.Decision.Value*ratio.High; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := follower.Decision.Reason(); !strings.Contains(
		got,
		"of Forecast prefill × 2.7, the high end of 2.31 to 2.7",
	) {
		t.Error(got)
	}
	if hasCondition(follower, snapshot.ConditionFollow) {
		t.Errorf("%+v", follower.Conditions)
	}
	answer, err := follower.Answer(decide.Overrides{}, noon)
	if err != nil || answer.Value != follower.Decision.Value || answer.Rule != decide.ByLeader {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestTheLimitsOfAFollowerHold(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(leader, follower *refresh.Job)
		want   func(leader, follower *snapshot.ForecastState) float64
	}{
		"a given ratio": {
			func(_, f *refresh.Job) { f.Ratio = 3 },
			func(l, _ *snapshot.ForecastState) float64 { return 3 * l.Decision.Value },
		},
		"one that is too small: the observed": {
			func(_, f *refresh.Job) { f.Ratio = 0.1 },
			func(_, f *snapshot.ForecastState) float64 { return f.Observed },
		},
		"one that is absurd: what history justifies": {
			func(_, f *refresh.Job) { f.Ratio = 1000 },
			func(_, f *snapshot.ForecastState) float64 { return f.Decision.Limit.Forecast },
		},
		"its maximum": {
			func(_, f *refresh.Job) { f.Ratio, f.Autoscalers = 3, hpaWithMax(30) },
			func(_, f *snapshot.ForecastState) float64 { return math.Max(300, f.Observed) },
		},
		"in a shadow": {
			func(_, f *refresh.Job) { f.Settings.Mode = decide.Shadow },
			func(_, f *snapshot.ForecastState) float64 { return f.Observed },
		},
		"of a shadow": {
			func(l, f *refresh.Job) { l.Settings.Mode, f.Ratio = decide.Shadow, 3 },
			func(l, _ *snapshot.ForecastState) float64 { return 3 * l.Decision.WouldServe },
		},
	} {
		leader, follower := playPair(t, pair(tt.change))
		if got, want := follower.Decision.Value, tt.want(leader, follower); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v, want %v; %s", name, got, want, follower.Decision.Reason())
		}
	}
}

// One that cannot follow serves its own forecast, and says why.
func TestAForecastThatCannotFollow(t *testing.T) {
	_, own := playPair(t, pair(func(_, f *refresh.Job) { f.Leader = "" }))
	for reason, change := range map[string]func(l, f *refresh.Job){
		"NoLeader":         func(_, f *refresh.Job) { f.Leader = "nobody" },
		"LeaderFollows":    func(l, _ *refresh.Job) { l.Leader = "decode" },
		"LeaderNotServing": func(l, _ *refresh.Job) { l.Pause = decide.Pause{Capacity: 1, Target: 1} },
		"RatioUnknown":     func(l, _ *refresh.Job) { l.Expr = "nothing" },
	} {
		from := sources{
			"prefill": {demand: daily},
			"decode":  {demand: decoding},
			"nothing": {demand: func(time.Time) float64 { return 0 }},
		}
		loop, _ := newLoop(t, from, pair(change))
		s := loop.Step(t.Context(), noon)
		got := entry(t, s, "decode")
		if got.Decision.Value != own.Decision.Value {
			t.Errorf("%s: %v, want its own %v", reason, got.Decision.Value, own.Decision.Value)
		}
		if c := condition(
			t,
			got,
			snapshot.ConditionFollow,
		); c.True || c.Reason != reason ||
			!strings.HasSuffix(c.Message, "own forecast is served") {
			t.Errorf("%s: %+v", reason, c)
		}
		if reason == "LeaderFollows" { // Of a circle neither follows.
			condition(t, entry(t, s, "prefill"), snapshot.ConditionFollow)
		}
	}
}
