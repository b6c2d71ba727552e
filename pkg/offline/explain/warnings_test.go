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
	return func(b *hpa.Behavior) { b.Up.Policies = []hpa.Policy{{Type: hpa.Pods, Value: 1, Period: in}} }
}

func bounds(least, most int32) func(*explain.Situation) {
	return func(s *explain.Situation) { s.Spec.Min, s.Spec.Max = least, most }
}

func as(kind hpa.TargetType) func(*explain.Situation) {
	return func(s *explain.Situation) { s.Spec.Metrics[0].Type = kind }
}

func healthy(*explain.Forecast) {}

func inState(state snapshot.State, why string) func(*explain.Forecast) {
	return func(f *explain.Forecast) { f.State, f.Ready, f.Reason = state, why, why }
}

// covered is by a warm pool for three hours, in which so many pods were created and waited.
func covered(starts, waited, waiting int) func(*explain.Forecast) {
	return func(f *explain.Forecast) {
		f.Cover = &explain.Cover{
			Pool: "h100", Since: noon().Add(-3 * time.Hour), Starts: starts, Waited: waited, Waiting: waiting,
		}
	}
}

func says(reason, message string) func(*explain.Situation) {
	return seen(3, 3, 25, explain.Condition{Type: "ScalingActive", Reason: reason, Message: message})
}

// Each warning with its figures, and beside it the case in which it must be silent.
func TestWarnings(t *testing.T) {
	tolerant := func(s *explain.Situation) { s.Spec.Cluster.Tolerance = 0 }
	for _, c := range []struct {
		name     string
		reason   string
		s        *explain.Situation
		contains []string // of the message or the advice; none: the warning must not be there
	}{
		{
			"a total with a Value", explain.ValueTargetCompounds, situation(3, 20, as(hpa.Value), foreseen(healthy)),
			[]string{"inflight is a total", "the same 20 asks for 6 now, for 12 when those are ready", "type: AverageValue"},
		},
		{
			"what may be no total", explain.ValueTargetCompounds, situation(3, 20, as(hpa.Value)),
			[]string{"if inflight is a total"},
		},
		{"a total with an AverageValue", explain.ValueTargetCompounds, situation(3, 20, foreseen(healthy)), nil},
		{
			"a needed replica is not seen", explain.ToleranceDeadBand, situation(5, 54),
			[]string{"less than 10%", "up to 55, where 5 replicas carry 50", "now 54 would need 6", `tolerance: "0"`},
		},
		{
			"of ten and more a whole replica is not seen", explain.ToleranceDeadBand, situation(12, 100),
			[]string{"up to 132, where 12 replicas carry 120"},
		},
		{"of a few replicas none is hidden", explain.ToleranceDeadBand, situation(5, 48), nil},
		{"without a tolerance", explain.ToleranceDeadBand, situation(12, 125, tolerant), nil},
		{
			"one pod in three minutes, eight are needed in five", explain.ScaleUpSlowerThanRise,
			situation(4, 120, behaves(onePod(3*time.Minute)), foreseen(func(f *explain.Forecast) { f.Observed = 40 })),
			[]string{"a rise of inflight from 40 to 120 requests within the lead time of 5m", "12 replicas; from 4 no more than 6", "1 pod in 3m"},
		},
		{
			"as steep as it was within the day", explain.ScaleUpSlowerThanRise,
			situation(4, 40, behaves(onePod(3*time.Minute)), foreseen(func(f *explain.Forecast) {
				f.Steepest = explain.Rise{From: 30, To: 90}
			})),
			[]string{"from 30 to 90", "as in the last day", "9 replicas; from 3 no more than 5"},
		},
		{
			"a scale-up that waits", explain.ScaleUpSlowerThanRise,
			situation(4, 120, behaves(func(b *hpa.Behavior) { b.Up.Stabilization = 10 * time.Minute }), foreseen(healthy),
				func(s *explain.Situation) { s.Metrics[0].Forecast.Observed = 40 }),
			[]string{"from 4 no more than 4", "held for 10m"},
		},
		{
			"without a behavior it doubles every sync", explain.ScaleUpSlowerThanRise,
			situation(1, 200, foreseen(func(f *explain.Forecast) { f.Observed = 10 })), nil,
		},
		{
			"never up", explain.ScaleUpDisabled,
			situation(4, 40, behaves(func(b *hpa.Behavior) { b.Up.Select = hpa.SelectDisabled })),
			[]string{"never scales up"},
		},
		{
			"too little history", explain.HistoryTooShort,
			situation(4, 40, foreseen(inState(snapshot.Warming, "4h of 1d; until 18:00"))),
			[]string{"4h of 1d; until 18:00"},
		},
		{"enough of it", explain.HistoryTooShort, situation(4, 40, foreseen(healthy)), nil},
		{
			"the running maximum", explain.ForecastFallingBack,
			situation(4, 40, foreseen(inState(snapshot.FallingBack, "the newest samples are missing"))),
			[]string{"sees nothing coming", "samples are missing"},
		},
		{
			"nothing served", explain.ForecastNotServing,
			situation(4, 40, foreseen(inState(snapshot.Stale, "the newest sample is 42m old"))),
			[]string{"is Stale", "42m old", "describe forecast inflight"},
		},
		{
			"a plateau", explain.DemandSaturated,
			situation(4, 40, foreseen(func(f *explain.Forecast) { f.Saturated = "since 11:40 it stays at 40" })),
			[]string{"a lower bound: since 11:40 it stays at 40", "arrivals"},
		},
		{
			"a warm pool that has too little", explain.CoveredStartsWait, situation(4, 40, foreseen(covered(3, 2, 1))),
			[]string{
				"warm pool h100 stands ready for Forecast inflight", "(5m)",
				"2 of the 3 pods that were created since 2026-11-20 09:00 UTC waited for a node (1 of them still)",
				"kubectl describe warmpool h100",
			},
		},
		{
			"which has covered for weeks: the last day counts", explain.CoveredStartsWait,
			situation(4, 40, foreseen(covered(10, 2, 0)), func(s *explain.Situation) {
				s.Metrics[0].Forecast.Cover.Since = noon().Add(-1000 * time.Hour)
			}),
			[]string{"2 of the 10 pods that were created since 2026-11-19 12:00 UTC waited for a node"},
		},
		{
			"one start in ten may wait", explain.CoveredStartsWait, situation(4, 40, foreseen(covered(10, 1, 1))), nil,
		},
		{"no start was there", explain.CoveredStartsWait, situation(4, 40, foreseen(covered(0, 0, 0))), nil},
		{"no warm pool covers it", explain.CoveredStartsWait, situation(4, 40, foreseen(healthy)), nil},
		{
			"minReplicas that carry all", explain.MinReplicasHideForecast,
			situation(8, 40, bounds(8, 20), foreseen(func(f *explain.Forecast) { f.Highest = 62 })),
			[]string{"minReplicas 8 × 10 = 80", "62 requests is the most", "7 would have carried the last day"},
		},
		{
			"minReplicas for the night", explain.MinReplicasHideForecast,
			situation(8, 40, bounds(8, 20), foreseen(func(f *explain.Forecast) { f.Highest = 81 })), nil,
		},
		{
			"more within reach than maxReplicas carry", explain.MaxReplicasCutForecast,
			situation(20, 190, foreseen(func(f *explain.Forecast) { f.Peak = 231 })),
			[]string{"maxReplicas 20 × 10 = 200", "231 requests", "24 replicas would carry it"},
		},
		{
			"the objective's own word", explain.MaxReplicasCutForecast,
			situation(20, 200, foreseen(func(f *explain.Forecast) { f.AtMax = "1% late takes 26 replicas" })),
			[]string{"1% late takes 26 replicas"},
		},
		{
			"whatever the metric is", explain.MaxReplicasReached, situation(20, 231),
			[]string{"inflight asks for 24 replicas, and maxReplicas is 20"},
		},
		{
			"of a metric without a Forecast, what the replicas do not carry", explain.ScaleUpSlowerThanRise,
			situation(4, 120, behaves(onePod(3*time.Minute)), func(s *explain.Situation) { s.Lead = 5 * time.Minute }),
			[]string{"a rise of inflight from 40 to 120 within the lead time of 5m, now, needs 12 replicas; from 4 no more than 6"},
		},
		{"enough of them", explain.MaxReplicasCutForecast, situation(20, 200, foreseen(healthy)), nil},
		{
			"a reactive metric that forgets faster than pods start", explain.ScaleDownBeforeLead,
			situation(4, 40, func(s *explain.Situation) { s.Lead = 10 * time.Minute }),
			[]string{"waits for 5m, less than the 10m", "stabilizationWindowSeconds: 600"},
		},
		{
			"a Forecast that only watches", explain.ScaleDownBeforeLead,
			situation(4, 40, behaves(func(b *hpa.Behavior) { b.Down.Stabilization = 0 }),
				foreseen(func(f *explain.Forecast) { f.Behind = true })),
			[]string{"waits for 0s, less than the 5m"},
		},
		{
			"a forecast looks ahead", explain.ScaleDownBeforeLead,
			situation(4, 40, behaves(func(b *hpa.Behavior) { b.Down.Stabilization = 0 }), foreseen(healthy)), nil,
		},
		{
			"a negative metric", explain.NegativeMetric, situation(4, -1), []string{"(-1)", "scales to maxReplicas"},
		},
		{
			"KEDA", explain.OwnedByKEDA, situation(4, 40, func(s *explain.Situation) { s.Owner = "llama" }),
			[]string{"ScaledObject llama"},
		},
		{
			"two on one target", explain.SeveralAutoscalers,
			situation(4, 40, func(s *explain.Situation) {
				s.Rivals = []string{"HorizontalPodAutoscaler/a", "HorizontalPodAutoscaler/b"}
			}),
			[]string{"Deployment/llama is scaled by HorizontalPodAutoscaler/a and HorizontalPodAutoscaler/b as well"},
		},
		{
			"a metric of single pods", explain.MetricNotExplained,
			situation(4, 40, func(s *explain.Situation) {
				s.Foreign = []explain.Foreign{{Type: "Resource", Name: "cpu", Target: "80%", Current: "75%"}}
			}),
			[]string{"Resource cpu", "it is 75% (target 80%)", "may ask for more"},
		},
		{
			"KEDA has the group", "FailedGetExternalMetric",
			situation(3, 25, says("FailedGetExternalMetric", "unable to get external metric: scaledObject name is not specified")),
			[]string{"KEDA owns external.metrics.k8s.io"},
		},
		{
			"nobody has it", "FailedGetExternalMetric",
			situation(3, 25, says("FailedGetExternalMetric", "the server could not find the requested resource")),
			[]string{"nobody serves external.metrics.k8s.io"},
		},
		{
			"no such metric", "FailedGetObjectMetric",
			situation(3, 25, says("FailedGetObjectMetric", `forecasts "x" not found`)),
			[]string{"the metric's name and namespace"},
		},
		{
			"the adapter is away", "FailedGetExternalMetric",
			situation(3, 25, says("FailedGetExternalMetric", "the server is currently unable to handle the request")),
			[]string{"does not answer"},
		},
		{"switched off", "ScalingDisabled", situation(0, 25, says("ScalingDisabled", "scaling is disabled")), []string{"scale it to 1"}},
		{"all is well", "ValidMetricFound", situation(3, 25, seen(3, 3, 25, explain.Condition{Type: "ScalingActive", True: true, Reason: "ValidMetricFound"})), nil},
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
	e := explained(t, situation(4, 40, func(s *explain.Situation) {
		s.Metrics[0].Forecast = &explain.Forecast{Name: "inflight", Missing: "outlooks is forbidden"}
	}))
	if len(e.Warnings) > 0 || !strings.Contains(strings.Join(e.Sentences, "\n"), "not known: outlooks is forbidden") {
		t.Errorf("%v %v", e.Warnings, e.Sentences)
	}
}

// A healthy HPA on a healthy Forecast has nothing to be warned of.
func TestNoWarning(t *testing.T) {
	s := situation(4, 38, foreseen(func(f *explain.Forecast) {
		f.Observed, f.Highest, f.Peak = 30, 90, math.NaN()
		f.Steepest = explain.Rise{From: 30, To: 60}
	}), behaves(func(b *hpa.Behavior) { b.Down.Stabilization = 0 }))
	if e := explained(t, s); len(e.Warnings) > 0 {
		t.Errorf("%+v", e.Warnings)
	}
}
