package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

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

func (catalogue) Ready(_ string, target v1alpha1.TargetRef, _ manifest.Source) string {
	return "ready(" + target.Kind + "/" + target.Name + ")"
}

func (catalogue) Render(
	preset, namespace string, target v1alpha1.TargetRef, _ manifest.Source, wait time.Duration,
) (manifest.Rendered, error) {
	if wait > 0 && preset == "vllm/queue-time" {
		return manifest.Rendered{Expr: fmt.Sprintf("late(%s,%s,%s)", namespace, target.Name, wait)}, nil
	}
	if preset != "vllm/arrivals" && preset != "vllm/inflight" {
		return manifest.Rendered{}, fmt.Errorf("unknown preset %q: did you mean vllm/inflight?", preset)
	}
	if target.Kind == "CronJob" {
		return manifest.Rendered{}, errors.New("a CronJob has no pods that stay")
	}
	expr := fmt.Sprintf("%s{namespace=%q,%s=%q}", preset, namespace, target.Kind, target.Name)
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
		got.Expr != "x@ai@tenant" || got.Saturated != "y@ai@tenant" {
		t.Errorf("%+v %q %q, want %+v and both queries confined by tenant", got.Source, got.Expr, got.Saturated, want)
	}
}
