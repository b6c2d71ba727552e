package forecasts_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
)

func TestQuantitiesAreForPeople(t *testing.T) {
	for _, c := range []struct {
		value float64
		want  string
	}{
		{0, "0"},
		{0.012345, "0.01235"},
		{0.0000000123456, "0.00000001235"},
		{12.3456, "12.35"},
		{999.96, "1000"},
		{1000.4, "1000"},
		{123456789, "123456789"},
		{math.NaN(), ""},
		{math.Inf(1), ""},
	} {
		if got := forecasts.FormatQuantity(c.value); got != c.want {
			t.Errorf("%v is written %q, want %q", c.value, got, c.want)
		}
	}
	for share, want := range map[float64]string{0.949: "95%", -0.031: "-3%", 0: "0%"} {
		if got := forecasts.FormatPercent(share); got != want {
			t.Errorf("%v is written %q, want %q", share, got, want)
		}
	}
	if got := forecasts.FormatPercent(math.NaN()); got != "" {
		t.Errorf("an unknown share is written %q", got)
	}
}

// Conditions keep the time of their transition while they stay on their side, and get that of the snapshot when they
// change it; those that an entry no longer has go.
func TestTransitionTimes(t *testing.T) {
	first := forecasts.StatusOf(entry("a", noon()), &v1alpha1.ForecastStatus{}, noon())
	e := entry("a", noon())
	e.State = snapshot.Stale
	e.Conditions = []snapshot.Condition{
		{Type: snapshot.ConditionReady, True: false, Message: strings.Repeat("long ", 1000)},
		{Type: snapshot.ConditionSource, True: false, Reason: "Timeout", Message: "slow"},
	}
	second := forecasts.StatusOf(e, &first, noon().Add(time.Hour))
	e.Conditions[1].Message = "slower"
	third := forecasts.StatusOf(e, &second, noon().Add(2*time.Hour))

	at := func(s v1alpha1.ForecastStatus) map[string]time.Time {
		out := map[string]time.Time{}
		for _, c := range s.Conditions {
			out[c.Type+"="+string(c.Status)+" "+c.Reason] = c.LastTransitionTime.UTC()
		}
		return out
	}
	for i, c := range []struct {
		got  v1alpha1.ForecastStatus
		want map[string]time.Time
	}{
		{first, map[string]time.Time{"Ready=True Ready": noon(), "Uncalibrated=True NoOutcome": noon()}},
		{second, map[string]time.Time{
			// A condition without a reason, which the API refuses, takes the state for one.
			"Ready=False Stale": noon().Add(time.Hour), "SourceHealthy=False Timeout": noon().Add(time.Hour),
		}},
		{third, map[string]time.Time{
			"Ready=False Stale": noon().Add(time.Hour), "SourceHealthy=False Timeout": noon().Add(time.Hour),
		}},
	} {
		if diff := cmp.Diff(c.want, at(c.got)); diff != "" {
			t.Errorf("status %d: %s", i, diff)
		}
	}
	if third.Conditions[1].Message != "slower" || len(third.Conditions[0].Message) > 2100 {
		t.Errorf("messages %q, %d bytes", third.Conditions[1].Message, len(third.Conditions[0].Message))
	}
}

func TestAPendingEntryShowsNoNumbers(t *testing.T) {
	e := &snapshot.ForecastSnapshot{State: snapshot.Pending, Skill: math.NaN(), Coverage: math.NaN()}
	got := forecasts.StatusOf(e, &v1alpha1.ForecastStatus{}, noon())
	if diff := cmp.Diff(v1alpha1.ForecastStatus{State: "Pending"}, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestNews(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.ForecastStatus)
		want   string
	}{
		{"nothing", func(*v1alpha1.ForecastStatus) {}, "silent"},
		{"a number", func(s *v1alpha1.ForecastStatus) { s.Observed = "119" }, "ordinary"},
		{"a number goes", func(s *v1alpha1.ForecastStatus) { s.Served = "" }, "ordinary"},
		{"coverage becomes known", func(s *v1alpha1.ForecastStatus) { s.Coverage = "95%" }, "ordinary"},
		{"another model", func(s *v1alpha1.ForecastStatus) { s.Model = "ses" }, "ordinary"},
		{"words in a message", func(s *v1alpha1.ForecastStatus) { s.Conditions[0].Message = "otherwise" }, "ordinary"},
		{"a newer sample", func(s *v1alpha1.ForecastStatus) {
			s.SampleTime = &metav1.Time{Time: s.SampleTime.Add(time.Minute)}
		}, "ordinary"},
		{"a reason", func(s *v1alpha1.ForecastStatus) { s.Conditions[0].Reason = "Warming" }, "urgent"},
		{"a side", func(s *v1alpha1.ForecastStatus) { s.Conditions[0].Status = "False" }, "urgent"},
		{"a condition goes", func(s *v1alpha1.ForecastStatus) { s.Conditions = s.Conditions[:1] }, "urgent"},
		{"the state", func(s *v1alpha1.ForecastStatus) { s.State = "Stale" }, "urgent"},
		{"the lead time", func(s *v1alpha1.ForecastStatus) { s.LeadTime = "4m10s" }, "urgent"},
		{"more starts", func(s *v1alpha1.ForecastStatus) { s.Starts = &v1alpha1.Starts{Workload: "a"} }, "ordinary"},
		{"the spec", func(s *v1alpha1.ForecastStatus) { s.ObservedGeneration++ }, "urgent"},
	} {
		before := forecasts.StatusOf(entry("a", noon()), &v1alpha1.ForecastStatus{}, noon())
		after := *before.DeepCopy()
		c.change(&after)
		if got := forecasts.UrgencyOf(&before, &after); got != c.want {
			t.Errorf("%s is %s, want %s", c.name, got, c.want)
		}
	}
}
