package explain_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// onePod allows one pod in so long a time.
func onePod(in time.Duration) func(*hpa.Behavior) {
	return func(b *hpa.Behavior) { b.Up.Policies = []hpa.ScalingPolicy{{Type: hpa.Pods, Value: 1, Period: in}} }
}

func bounds(least, most int32) func(*explain.Input) {
	return func(s *explain.Input) { s.Spec.Min, s.Spec.Max = least, most }
}

func as(kind hpa.TargetType) func(*explain.Input) {
	return func(s *explain.Input) { s.Spec.Metrics[0].Type = kind }
}

func existing(n int32) func(*explain.Input) {
	return func(s *explain.Input) { s.Scale.Existing, s.Scale.Pods = n, n }
}

func healthy(*explain.Forecast) {}

func inState(state snapshot.State, why string) func(*explain.Forecast) {
	return func(f *explain.Forecast) { f.State, f.ReadyMessage, f.Reason = state, why, why }
}

// covered is by a warm pool for three hours, in which so many pods were created and waited.
func covered(starts, waited, waiting int) func(*explain.Forecast) {
	return func(f *explain.Forecast) {
		f.Cover = &explain.Cover{
			Pool: "h100", Since: noon().Add(-3 * time.Hour), Starts: starts, Waited: waited, Waiting: waiting,
		}
	}
}

func withCondition(reason, message string) func(*explain.Input) {
	return withStatus(3, 3, 25, hpa.Condition{Type: "ScalingActive", Reason: reason, Message: message})
}

// Each warning with its figures, and next to it the case in which it must be silent.
func TestWarnings(t *testing.T) {
	tolerant := func(s *explain.Input) { s.Spec.Cluster.Tolerance = 0 }
	for _, c := range []struct {
		name     string
		reason   string
		s        *explain.Input
		contains []string // of the message or the advice; none: the warning must not be there
	}{
		{
			"a total with a Value", explain.ValueTargetCompounds, inputOf(3, 20, as(hpa.Value), withForecast(healthy)),
			[]string{"inflight is a total", "the same 20 asks for 6 now, for 12 when those are ready", "type: AverageValue"},
		},
		{
			"what may be no total", explain.ValueTargetCompounds, inputOf(3, 20, as(hpa.Value)),
			[]string{"if inflight is a total"},
		},
		{"a total with an AverageValue", explain.ValueTargetCompounds, inputOf(3, 20, withForecast(healthy)), nil},
		{
			"a needed replica is not seen", explain.ToleranceDeadBand, inputOf(5, 54),
			[]string{"less than 10%", "until the value is above 55, but 5 replicas sustain only 50", "the current value, 54, would need 6 replicas", `tolerance: "0"`},
		},
		{
			"of ten and more a whole replica is not seen", explain.ToleranceDeadBand, inputOf(12, 100),
			[]string{"until the value is above 132, but 12 replicas sustain only 120"},
		},
		{"of a few replicas none is hidden", explain.ToleranceDeadBand, inputOf(5, 48), nil},
		{"without a tolerance", explain.ToleranceDeadBand, inputOf(12, 125, tolerant), nil},
		{
			"a rollout's surge is adopted", explain.RolloutSurge, inputOf(10, 102, existing(11)),
			[]string{"1 of the 11 replicas exist only because of a rollout", "asks for 11, although the demand needs only 10", "maxSurge: 0"},
		},
		{"a surge, and more is needed", explain.RolloutSurge, inputOf(10, 200, existing(11)), nil},
		{
			"a paused ScaledObject", explain.PausedByAnnotation,
			inputOf(10, 102, func(s *explain.Input) { s.Paused = `autoscaling.keda.sh/paused: "true"` }),
			[]string{`while the annotation autoscaling.keda.sh/paused: "true" is set`},
		},
		{"a ScaledObject that is not paused", explain.PausedByAnnotation, inputOf(10, 102), nil},
		{"no surge", explain.RolloutSurge, inputOf(10, 102), nil},
		{
			"one pod in three minutes, eight are needed in five", explain.ScaleUpSlowerThanRise,
			inputOf(4, 120, withBehavior(onePod(3*time.Minute)), withForecast(func(f *explain.Forecast) { f.Observed = 40 })),
			[]string{"a rise of inflight from 40 to 120 requests within the lead time of 5m", "12 replicas; from 4 no more than 6", "1 pod in 3m"},
		},
		{
			"as steep as it was within the day", explain.ScaleUpSlowerThanRise,
			inputOf(4, 40, withBehavior(onePod(3*time.Minute)), withForecast(func(f *explain.Forecast) {
				f.Steepest = explain.Rise{From: 30, To: 90}
			})),
			[]string{"from 30 to 90", "as it happened in the last day", "9 replicas; starting from 3, the HPA can ask for no more than 5"},
		},
		{
			"a scale-up that waits", explain.ScaleUpSlowerThanRise,
			inputOf(4, 120, withBehavior(func(b *hpa.Behavior) { b.Up.Stabilization = 10 * time.Minute }), withForecast(healthy),
				func(s *explain.Input) { s.Metrics[0].Forecast.Observed = 40 }),
			[]string{"from 4 no more than 4", "held for 10m"},
		},
		{
			"without a behavior it doubles every sync", explain.ScaleUpSlowerThanRise,
			inputOf(1, 200, withForecast(func(f *explain.Forecast) { f.Observed = 10 })), nil,
		},
		{
			"never up", explain.ScaleUpDisabled,
			inputOf(4, 40, withBehavior(func(b *hpa.Behavior) { b.Up.Select = hpa.SelectDisabled })),
			[]string{"never scales up"},
		},
		{
			"too little history", explain.HistoryTooShort,
			inputOf(4, 40, withForecast(inState(snapshot.Warming, "4h of 1d; until 18:00"))),
			[]string{"4h of 1d; until 18:00"},
		},
		{"enough of it", explain.HistoryTooShort, inputOf(4, 40, withForecast(healthy)), nil},
		{
			"the running maximum", explain.ForecastFallingBack,
			inputOf(4, 40, withForecast(inState(snapshot.FallingBack, "the newest samples are missing"))),
			[]string{"does not look ahead", "samples are missing"},
		},
		{
			"nothing served", explain.ForecastNotServing,
			inputOf(4, 40, withForecast(inState(snapshot.Stale, "the newest sample is 42m old"))),
			[]string{"is Stale", "42m old", "describe forecast inflight"},
		},
		{
			"a plateau", explain.DemandSaturated,
			inputOf(4, 40, withForecast(func(f *explain.Forecast) { f.Saturated = "since 11:40 it stays at 40" })),
			[]string{"a lower bound: since 11:40 it stays at 40", "arrivals"},
		},
		{
			"a warm pool that has too little", explain.CoveredStartsWait, inputOf(4, 40, withForecast(covered(3, 2, 1))),
			[]string{
				"warm pool h100 covers Forecast inflight", "(5m)",
				"2 of the 3 pods created since 2026-11-20 09:00 UTC waited for a node (1 still waiting)",
				"kubectl describe warmpool h100",
			},
		},
		{
			"which has covered for weeks: the last day counts", explain.CoveredStartsWait,
			inputOf(4, 40, withForecast(covered(10, 2, 0)), func(s *explain.Input) {
				s.Metrics[0].Forecast.Cover.Since = noon().Add(-1000 * time.Hour)
			}),
			[]string{"2 of the 10 pods created since 2026-11-19 12:00 UTC waited for a node"},
		},
		{"one start in ten may wait", explain.CoveredStartsWait, inputOf(4, 40, withForecast(covered(10, 1, 1))), nil},
		{"no start was there", explain.CoveredStartsWait, inputOf(4, 40, withForecast(covered(0, 0, 0))), nil},
		{"no warm pool covers it", explain.CoveredStartsWait, inputOf(4, 40, withForecast(healthy)), nil},
		{
			"minReplicas that carry all", explain.MinReplicasHideForecast,
			inputOf(8, 40, bounds(8, 20), withForecast(func(f *explain.Forecast) { f.Highest = 62 })),
			[]string{"minReplicas 8 × 10 = 80", "at most 62 requests in the last day and in the forecast ahead", "7 would have been enough for the last day"},
		},
		{
			"minReplicas for the night", explain.MinReplicasHideForecast,
			inputOf(8, 40, bounds(8, 20), withForecast(func(f *explain.Forecast) { f.Highest = 81 })), nil,
		},
		{
			"more within reach than maxReplicas carry", explain.MaxReplicasCutForecast,
			inputOf(20, 190, withForecast(func(f *explain.Forecast) { f.Peak = 231 })),
			[]string{"maxReplicas 20 × 10 = 200", "231 requests", "24 replicas are needed"},
		},
		{
			"the objective's own word", explain.MaxReplicasCutForecast,
			inputOf(20, 200, withForecast(func(f *explain.Forecast) { f.AtMaxReplicas = "1% late takes 26 replicas" })),
			[]string{"1% late takes 26 replicas"},
		},
		{
			"whatever the metric is", explain.MaxReplicasReached, inputOf(20, 231),
			[]string{"inflight asks for 24 replicas, and maxReplicas is 20"},
		},
		{
			"of a metric without a Forecast, what the replicas do not carry", explain.ScaleUpSlowerThanRise,
			inputOf(4, 120, withBehavior(onePod(3*time.Minute)), func(s *explain.Input) { s.Lead = 5 * time.Minute }),
			[]string{"a rise of inflight from 40 to 120 within the lead time of 5m, now, needs 12 replicas; from 4 no more than 6"},
		},
		{"enough of them", explain.MaxReplicasCutForecast, inputOf(20, 200, withForecast(healthy)), nil},
		{
			"a reactive metric that forgets faster than pods start", explain.ScaleDownBeforeLead,
			inputOf(4, 40, func(s *explain.Input) { s.Lead = 10 * time.Minute }),
			[]string{"waits for 5m, less than the 10m", "stabilizationWindowSeconds: 600"},
		},
		{
			"a Forecast that only watches", explain.ScaleDownBeforeLead,
			inputOf(4, 40, withBehavior(func(b *hpa.Behavior) { b.Down.Stabilization = 0 }),
				withForecast(func(f *explain.Forecast) { f.Shadow = true })),
			[]string{"waits for 0s, less than the 5m"},
		},
		{
			"a pause holds as the HPA before did", explain.ScaleDownBeforeLead,
			inputOf(4, 40, withBehavior(func(b *hpa.Behavior) { b.Down.Stabilization = 0 }),
				withForecast(func(f *explain.Forecast) { f.Shadow, f.Paused = true, true })), nil,
		},
		{
			"a forecast looks ahead", explain.ScaleDownBeforeLead,
			inputOf(4, 40, withBehavior(func(b *hpa.Behavior) { b.Down.Stabilization = 0 }), withForecast(healthy)), nil,
		},
		{
			"a negative metric", explain.NegativeMetric, inputOf(4, -1), []string{"(-1)", "scales to maxReplicas"},
		},
		{
			"KEDA", explain.OwnedByKEDA, inputOf(4, 40, func(s *explain.Input) { s.Owner = "llama" }),
			[]string{"ScaledObject llama"},
		},
		{
			"two on one target", explain.SeveralAutoscalers,
			inputOf(4, 40, func(s *explain.Input) {
				s.OtherAutoscalers = []string{"HorizontalPodAutoscaler/a", "HorizontalPodAutoscaler/b"}
			}),
			[]string{"Deployment/llama is also scaled by HorizontalPodAutoscaler/a and HorizontalPodAutoscaler/b"},
		},
		{
			"a metric of single pods", explain.MetricNotExplained,
			inputOf(4, 40, func(s *explain.Input) {
				s.Uncomputed = []explain.UncomputedMetric{{Type: "Resource", Name: "cpu", Target: "80%", Current: "75%"}}
			}),
			[]string{"Resource cpu", "it is 75% (target 80%)", "may ask for more"},
		},
		{
			"KEDA has the group", "FailedGetExternalMetric",
			inputOf(3, 25, withCondition("FailedGetExternalMetric", "unable to get external metric: scaledObject name is not specified")),
			[]string{"KEDA owns external.metrics.k8s.io"},
		},
		{
			"no one has it", "FailedGetExternalMetric",
			inputOf(3, 25, withCondition("FailedGetExternalMetric", "the server could not find the requested resource")),
			[]string{"external.metrics.k8s.io is not served"},
		},
		{
			"no such metric", "FailedGetObjectMetric",
			inputOf(3, 25, withCondition("FailedGetObjectMetric", `forecasts "x" not found`)),
			[]string{"the metric's name and namespace"},
		},
		{
			"no such metric of pods", "FailedGetPodsMetric",
			inputOf(3, 25, withCondition("FailedGetPodsMetric", "the server could not find the metric x for pods")),
			[]string{"Forewarm does not serve Pods metrics"},
		},
		{
			"the adapter is away", "FailedGetExternalMetric",
			inputOf(3, 25, withCondition("FailedGetExternalMetric", "the server is currently unable to handle the request")),
			[]string{"does not answer"},
		},
		{"switched off", "ScalingDisabled", inputOf(0, 25, withCondition("ScalingDisabled", "scaling is disabled")), []string{"scale it to 1"}},
		{"all is well", "ValidMetricFound", inputOf(3, 25, withStatus(3, 3, 25, hpa.Condition{Type: "ScalingActive", True: true, Reason: "ValidMetricFound"})), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := explained(t, c.s)
			i := slices.IndexFunc(e.Warnings, func(w explain.Warning) bool { return w.Reason == c.reason })
			if i < 0 || c.contains == nil {
				if (i < 0) != (c.contains == nil) {
					t.Fatalf("warnings %v, of %s %t wanted", e.Warnings, c.reason, c.contains != nil)
				}
				return
			}
			w := e.Warnings[i]
			for _, want := range c.contains {
				if !strings.Contains(w.Message+" → "+w.Advice, want) {
					t.Errorf("%q is not in: %s → %s", want, w.Message, w.Advice)
				}
			}
		})
	}
}

// A Forecast that may not be read says so, and leads to no warning about what is not known.
func TestMissingOutlook(t *testing.T) {
	e := explained(t, inputOf(4, 40, func(s *explain.Input) {
		s.Metrics[0].Forecast = &explain.Forecast{Name: "inflight", Missing: "outlooks is forbidden"}
	}))
	if len(e.Warnings) > 0 ||
		!strings.Contains(strings.Join(e.Sentences, "\n"), "cannot be read: outlooks is forbidden") {
		t.Errorf("%v %v", e.Warnings, e.Sentences)
	}
}

// A healthy HPA on a healthy Forecast has nothing to be warned of.
func TestNoWarning(t *testing.T) {
	s := inputOf(4, 38, withForecast(func(f *explain.Forecast) {
		f.Observed, f.Highest, f.Peak = 30, 90, math.NaN()
		f.Steepest = explain.Rise{From: 30, To: 60}
	}), withBehavior(func(b *hpa.Behavior) { b.Down.Stabilization = 0 }))
	if e := explained(t, s); len(e.Warnings) > 0 {
		t.Errorf("%+v", e.Warnings)
	}
}
