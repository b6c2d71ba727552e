package autoscaler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// onQueue is an HPA of another adapter's metric, with a selector.
func onQueue(selector string) string {
	return hpaHeader + "  metrics: [{type: External, external: {metric: {name: queue_messages_ready, selector: " + selector +
		"}, target: " + of64 + "}}]\n"
}

// An HPA that reads a Forecast by its alias scales as one that reads it by its name; by that name its labels are unknown keys.
func TestReferencesByAlias(t *testing.T) {
	alias := snapshot.Key{Namespace: "inference", Name: `queue_messages_ready{queue="orders"}`}
	for selector, refused := range map[string]string{
		"{matchLabels: {queue: orders}}":                                               "",
		"{matchExpressions: [{key: queue, operator: In, values: [orders]}]}":           "",
		"{matchLabels: {queue: orders, model: arima}}":                                 "",
		"{matchLabels: {queue: orders, horizon: 5m}}":                                  "remove it",
		"{matchExpressions: [{key: queue, operator: In, values: [orders, payments]}]}": "-",
		"{matchExpressions: [{key: queue, operator: NotIn, values: [payments]}]}":      "-",
	} {
		got := fromHPA(readHPA(t, onQueue(selector)))
		if len(got) != 1 || !strings.Contains(got[0].Refused, "selector is invalid") {
			t.Fatalf("%s: %+v", selector, got)
		}
		if refused == "-" {
			if got[0].Alias.Name != "" {
				t.Errorf("%s: the alias is %s", selector, got[0].Alias)
			}
			continue
		}
		by, ok := got[0].As(alias)
		if !ok || by.Forecast != alias || by.Workload != llama || !strings.Contains(by.Refused, refused) ||
			(refused == "") != (by.Refused == "") {
			t.Errorf("%s: %+v", selector, by)
		}
		if refused == "" &&
			(by.Spec.Metrics[0].Target != 64_000 || (by.Candidate == "arima") != strings.Contains(selector, "arima")) {
			t.Errorf("%s: %+v", selector, by)
		}
	}
}

// explain finds the Forecast behind an alias as the server does: the oldest, of the HPA's own namespace.
func TestReading(t *testing.T) {
	at := func(name, namespace string, age time.Duration, queue string) v1alpha1.Forecast {
		f := v1alpha1.Forecast{ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace, CreationTimestamp: metav1.Time{Time: time.Unix(1e9, 0).Add(-age)},
		}}
		f.Spec.Expose = &v1alpha1.Expose{Metric: "queue_messages_ready", MatchLabels: map[string]string{"queue": queue}}
		return f
	}
	all := []v1alpha1.Forecast{
		at("newer", "inference", 0, "orders"), at("older", "inference", time.Hour, "orders"),
		at("oldest", "other", 2*time.Hour, "orders"), at("payments", "inference", 0, "payments"),
	}
	asking := func(selector string) *hpa.AutoscalerMetric {
		return &autoscaler.FromHPA(readHPA(t, onQueue(selector))).Metrics[0]
	}
	byLate := asking("{matchLabels: {queue: orders, late: \"0.05\"}}")
	byName := asking("{}")
	byName.Name, byName.Forecast = "older", "older"
	for _, c := range []struct {
		metric *hpa.AutoscalerMetric
		all    []v1alpha1.Forecast
		name   string
		asked  map[string]string
	}{
		{metric: byLate, all: all, name: "older", asked: map[string]string{"late": "0.05"}},
		{
			metric: asking("{matchLabels: {queue: orders, badHours: \"0.01\"}}"), all: all, name: "older",
			asked: map[string]string{"badHours": "0.01"},
		},
		{metric: byLate, all: all[2:]},
		{metric: byName, all: all, name: "older", asked: map[string]string{}},
		{metric: byName, all: all[2:]},
	} {
		f, asked := autoscaler.Reading(c.metric, "inference", c.all)
		if diff := cmp.Diff(c.asked, asked, cmpopts.EquateEmpty()); (f == nil) != (c.name == "") || diff != "" {
			t.Errorf("%s: %v answers, %s", c.metric, f, diff)
		}
		if f != nil && f.Name != c.name {
			t.Errorf("%s: %s answers, want %s", c.metric, f.Name, c.name)
		}
	}
}

// TestTheSamplesCount: each autoscaler of deploy/samples is one that the sample's Forecast is calibrated for, with the
// full capacity of a replica and without a hold.
func TestTheSamplesCount(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "samples", name))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n---\n")
		return first
	}
	for name, references := range map[string][]manifest.Reference{
		"hpa.yaml":          fromHPA(readHPA(t, read("hpa.yaml"))),
		"hpa-object.yaml":   fromHPA(readHPA(t, read("hpa-object.yaml"))),
		"scaledobject.yaml": fromScaledObject(readScaledObject(t, read("scaledobject.yaml"))),
	} {
		if len(references) != 1 || references[0].Forecast != inflight {
			t.Errorf("%s: %+v", name, references)
			continue
		}
		choice := manifest.ChooseAutoscalers(references, llama, 0)
		if len(choice.Autoscalers) != 1 || choice.Autoscalers[0].Target() != 64 ||
			choice.Autoscalers[0].HPA.Max != 20 ||
			choice.Autoscalers[0].HPA.Behavior.Down.Stabilization != 0*time.Second {
			t.Errorf("%s: %+v", name, choice)
		}
	}
}
