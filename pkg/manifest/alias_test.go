package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

func TestExpose(t *testing.T) {
	resolve := func(fields string) (refresh.Job, field.ErrorList) {
		return manifest.NewResolver(catalogue{}).Resolve(object(t, header+spec(fields)))
	}
	good, problems := resolve("expose: {metric: Queue:messages_ready, matchLabels: {queue: orders}}")
	want := &snapshot.Alias{Metric: "Queue:messages_ready", Labels: map[string]string{"queue": "orders"}}
	if diff := cmp.Diff(want, good.Alias); diff != "" || len(problems) > 0 {
		t.Error(problems, diff)
	}
	for expose, problem := range map[string]string{
		"{matchLabels: {queue: orders}}":           "spec.expose.metric: Invalid value",
		"{metric: a/b}":                            "write the name of the HPA's metric",
		"{metric: 'a{}'}":                          "write the name of the HPA's metric",
		"{metric: ..}":                             "write the name of the HPA's metric",
		"{metric: a, matchLabels: {_queue: x}}":    "spec.expose.matchLabels: Invalid value",
		"{metric: a, matchLabels: {queue: a b}}":   "spec.expose.matchLabels: Invalid value",
		"{metric: a, matchLabels: {model: llama}}": `"model": badHours, horizon, late, model, quantile, serve ask for another view of a Forecast: remove it`,
		"{metric: a, matchLabels: {badHours: x}}":  `"badHours": badHours, horizon, late, model`,
		"{metric: /, matchLabels: {late: a b}}":    "; spec.expose.matchLabels: Invalid value",
	} {
		if got, _ := resolve("expose: " + expose); !strings.Contains(got.Invalid, problem) || got.Alias != nil {
			t.Errorf("%s: %q with %v does not say %q", expose, got.Invalid, got.Alias, problem)
		}
	}
	// No one else takes an alias while its Forecast is being corrected.
	if got, _ := resolve("{expose: {metric: a}, step: 7m}"); got.Invalid == "" || got.Alias == nil {
		t.Errorf("%+v", got)
	}
}

// A renamed workload has the demand of its former names, too, and keeps its starts.
func TestFormerNames(t *testing.T) {
	o := object(t, header+
		"spec: {targetRef: {kind: Deployment, name: green}, formerNames: [blue, llama], signal: {preset: vllm/inflight}}")
	got := resolve(t, o)
	if want := `vllm/inflight{namespace="inference",Deployment="green|blue|llama"}`; got.Expr != want {
		t.Error(got.Expr)
	}
	for ref, is := range map[string]bool{
		"Deployment.apps/green": true, "Deployment.apps/blue": true, "Deployment.apps/red": false, "StatefulSet.apps/blue": false, "": false,
	} {
		if manifest.IsWorkload(o, ref) != is {
			t.Errorf("%q: %v, want %v", ref, !is, is)
		}
	}
	for names, name := range map[string]string{"No": "spec.formerNames[0]", "a b c d e": "spec.formerNames"} {
		o.Spec.FormerNames = strings.Split(names, " ")
		_, problems := manifest.NewResolver(catalogue{}).Resolve(o)
		if len(problems) != 1 || problems[0].Field != name {
			t.Errorf("%s: %v", names, problems)
		}
	}
}

func TestMeasuredLeadTimes(t *testing.T) {
	const auto = "  targetRef: {kind: Deployment, name: llama}\n  signal: {query: x}\n"
	measured := func(lead time.Duration) manifest.MeasuredLeadTime {
		return manifest.MeasuredLeadTime{Lead: lead, Source: "p90 of 12 starts"}
	}
	for _, c := range []struct {
		name, fields string
		measured     manifest.MeasuredLeadTime
		lead         time.Duration
		source       string
	}{
		{"nothing yet", "", manifest.MeasuredLeadTime{Source: "3 of 10 starts"}, 5 * time.Minute, "fallback 5m: 3 of 10 starts"},
		{"measured", "", measured(4 * time.Minute), 4 * time.Minute, "p90 of 12 starts"},
		{"fixed", "leadTime: {mode: Fixed, duration: 12m}", measured(4 * time.Minute), 12 * time.Minute, "fixed 12m"},
		{
			"a window of more steps than can be forecast", "step: 1s\n  history: 1d", measured(20 * time.Minute),
			1000*time.Second - 75*time.Second,
			"p90 of 12 starts; 20m is limited to what a step of 1s and a history of 1d allow",
		},
		{
			"two windows longer than the history", "history: 20m", measured(20 * time.Minute),
			10*time.Minute - 75*time.Second,
			"p90 of 12 starts; 20m is limited to what a step of 30s and a history of 20m allow",
		},
		{
			"a window shorter than the step", "step: 5m", measured(time.Minute), 225 * time.Second,
			"p90 of 12 starts; 1m is limited to what a step of 5m and a history of 2w allow",
		},
	} {
		o := object(t, header+"spec:\n"+auto+"  "+c.fields+"\n")
		got := resolve(t, o, manifest.ClusterState{LeadTime: c.measured})
		if got.Lead != c.lead || got.LeadSource != c.source || got.Settings.Lead != c.lead {
			t.Errorf("%s: %s (policy %s), %q; want %s, %q",
				c.name, got.Lead, got.Settings.Lead, got.LeadSource, c.lead, c.source)
		}
		if got.StaleAfter < leadtime.Window(got.Lead) {
			t.Errorf("%s: stale after %s, within the window", c.name, got.StaleAfter)
		}
	}
}

// catalogue knows two presets and refuses queries that hold a closing brace too many.
type catalogue struct{}

// Source grants every namespace main, and team-a to the namespace ai.
func (catalogue) Source(name, namespace string) (manifest.Source, error) {
	switch {
	case name == "":
		return manifest.Source{}, nil
	case name == "team-a" && namespace == "ai":
		return manifest.Source{SourceRef: refresh.SourceRef{Name: name, Revision: "1"}, TenantLabel: "tenant"}, nil
	}
	return manifest.Source{}, fmt.Errorf("source not granted to namespace %s", namespace)
}

func (catalogue) Revision() uint64 { return 0 }

func (catalogue) Ready(_ string, spec *v1alpha1.ForecastSpec, _ manifest.Source) string {
	target := spec.TargetRef
	return "ready(" + target.Kind + "/" + target.Name + ")"
}

func (catalogue) Render(
	preset, namespace string, spec *v1alpha1.ForecastSpec, _ manifest.Source, wait time.Duration,
) (manifest.Rendered, error) {
	target := spec.TargetRef
	names := strings.Join(append([]string{target.Name}, spec.FormerNames...), "|")
	if wait > 0 && preset == "vllm/queue-time" {
		return manifest.Rendered{Expr: fmt.Sprintf("late(%s,%s,%s)", namespace, names, wait)}, nil
	}
	if preset != "vllm/arrivals" && preset != "vllm/inflight" {
		return manifest.Rendered{}, fmt.Errorf("unknown preset %q: did you mean vllm/inflight?", preset)
	}
	if target.Kind == "CronJob" {
		return manifest.Rendered{}, errors.New("a CronJob has no pods that stay")
	}
	expr := fmt.Sprintf("%s{namespace=%q,%s=%q}", preset, namespace, target.Kind, names)
	return manifest.Rendered{Expr: expr, Unit: "requests", Rate: preset == "vllm/arrivals"}, nil
}

func (catalogue) Confine(query, namespace string, source manifest.Source) (manifest.Rendered, error) {
	if strings.Contains(query, "}}") {
		return manifest.Rendered{}, errors.New("1:9: unexpected right brace")
	}
	return manifest.Rendered{
		Expr: strings.TrimSuffix(fmt.Sprintf("%s@%s@%s", query, namespace, source.TenantLabel), "@"),
	}, nil
}

// A source has a label of its own, and the queries are confined by that.
func TestSourcesConfineByTheirOwnLabel(t *testing.T) {
	o := object(t, header+"spec: {targetRef: {kind: Deployment, name: a}, "+
		"signal: {query: x, saturated: y, source: team-a}}")
	o.Namespace = "ai"
	got := resolve(t, o)
	if want := (refresh.SourceRef{Name: "team-a", Revision: "1"}); got.Source != want ||
		got.Expr != "x@ai@tenant" || got.SideQueries[refresh.Saturated] != "y@ai@tenant" {
		t.Errorf("%+v %q %v, want %+v and both queries confined by tenant", got.Source, got.Expr, got.SideQueries, want)
	}
}
