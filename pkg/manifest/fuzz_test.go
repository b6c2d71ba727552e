package manifest_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// FuzzResolve reads any text as every field of a Forecast: what has no problem is within the limits, and what has one says so
// in few words.
func FuzzResolve(f *testing.F) {
	f.Add("30s", "14d", "5m", "10m", "1h", "0.95", "", "1%", "30s")
	f.Add("1s", "33h20m", "2h", "24h", "2s", "", "1000000", "", "")
	f.Add("2h", "400d", "1s", "", "", "0.995", "", "99.999%", "1h")
	f.Add("-30s", "1y1y", "106751d", "292y", "0s", "1e1", "0x1p3", "NaN%", "1ns")
	f.Add("9223372036854775807ms", "\x00", " 5m", "5m ", "5M", ".5", "000000000000000000000.1", "0.%", "1µs")
	f.Fuzz(func(t *testing.T, step, history, lead, stale, season, quantile, ratio, late, wait string) {
		object := &v1alpha1.Forecast{Spec: v1alpha1.ForecastSpec{
			TargetRef:  v1alpha1.TargetRef{Kind: "Deployment", Name: "llama"},
			Signal:     v1alpha1.Signal{Preset: "vllm/inflight"},
			Step:       v1alpha1.Duration(step),
			History:    v1alpha1.Duration(history),
			StaleAfter: v1alpha1.Duration(stale),
			LeadTime:   &v1alpha1.LeadTime{Fallback: v1alpha1.Duration(lead)},
			Quantile:   quantile,
			CostRatio:  v1alpha1.Positive(ratio),
		}}
		object.Namespace, object.Name = "inference", "llama"
		if season != "" {
			object.Spec.Seasons = []v1alpha1.Duration{v1alpha1.Duration(season)}
		}
		if late != "" || wait != "" {
			object.Spec.Objective = &v1alpha1.Objective{Late: late, Wait: v1alpha1.Duration(wait)}
			if len(late)%2 == 1 {
				object.Spec.Objective = &v1alpha1.Objective{BadHours: late, Wait: v1alpha1.Duration(wait)}
			}
		}
		target, problems := manifest.NewResolver(catalogue{}).Resolve(object)
		for _, p := range problems {
			if text := p.Error(); len(text) > 1200 {
				t.Fatalf("%d bytes: %s", len(text), text)
			}
		}
		if len(problems) > 0 {
			return
		}
		policy, window := target.Settings, leadtime.Window(target.Lead)
		points := int64(target.History / target.Step)
		switch {
		case target.Step < manifest.MinStep || target.Step%time.Second != 0 || target.Step > window,
			points < manifest.MinPoints || points > manifest.MaxPoints || target.History < 2*window,
			target.Lead < time.Second || target.Lead > manifest.MaxLead || window > manifest.MaxWindowSteps*target.Step,
			target.StaleAfter < 2*target.Step || target.StaleAfter > manifest.MaxStaleAfter,
			len(target.Seasons) > 0 && (target.Seasons[0]%target.Step != 0 || target.Seasons[0] > target.History/2):
			t.Fatalf("%+v", target)
		case !(policy.Quantile >= 0 && policy.Quantile < 1), !(policy.Late >= 0 && policy.Late < 1),
			!(policy.CostRatio >= 0 && policy.CostRatio <= manifest.MaxCostRatio), math.Signbit(policy.CostRatio),
			policy.Wait < 0 || policy.Wait > manifest.MaxWait, policy.Over < 0 || policy.Over%time.Hour != 0,
			policy.Over > max(target.History, time.Hour), policy.Late > 0 && policy.Over == 0, policy.Quantile == 0 && policy.Late == 0 && policy.CostRatio == 0:
			t.Fatalf("%+v", policy)
		}
	})
}

// What is wrong with a long text is said in few words: they stand in statuses, events and logs.
func TestProblemsEchoLittle(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	o := object(t, header+"spec: {targetRef: {kind: Deployment, name: llama}, signal: {preset: vllm/inflight}}")
	o.Name, o.Spec.TargetRef.Kind, o.Spec.TargetRef.Name = long, long, long
	o.Spec.Step, o.Spec.Quantile, o.Spec.Models = v1alpha1.Duration(long), long, []string{long}
	o.Spec.Serve = v1alpha1.ServeMode(long)
	o.Spec.Signal.Query, o.Spec.Signal.Saturated = long, long[:manifest.MaxQuery-2]+"}}"
	_, problems := manifest.NewResolver(catalogue{}).Resolve(o)
	if len(problems) < 8 {
		t.Errorf("%d problems", len(problems))
	}
	for _, p := range problems {
		if text := p.Error(); len(text) > 600 {
			t.Errorf("%s: %d bytes: %.300s…", p.Field, len(text), text)
		}
	}
}
