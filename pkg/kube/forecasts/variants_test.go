package forecasts_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// testVariants: each HPA is that of its variant; a pod that finds no node for longer than a start limits its variant to one more than are
// on a node, until that one has a node, too.
func testVariants(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	object := fmt.Sprintf(good, "a", `signal: {query: x}
  leadTime: {mode: Fixed, duration: 4m}
  variants: [{name: spot, targetRef: {kind: Deployment, name: spot}}]`)
	spot := strings.NewReplacer("name: llama", "name: spot", "app: llama", "app: spot")
	selecting := func(name string) string {
		text := strings.Replace(horizontal, "{name: a}", "{name: a, selector: {matchLabels: {variant: "+name+"}}}", 1)
		if name == "spot" {
			return spot.Replace(text)
		}
		return text
	}
	c.MustKubectl(
		t,
		deployment+"---"+spot.Replace(deployment)+"---"+selecting("llama")+"---"+selecting("spot")+"---"+object,
		"create",
		"-f",
		"-",
	)
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "hpa", "--all") })
	k := newKubelet(t, c)
	pod := func(name string) *corev1.Pod {
		return k.Create(name, map[string]string{"app": "spot", "pod-template-hash": "5d4f"}, "ReplicaSet", "spot-5d4f")
	}
	p := newProcess(t, c)
	now := time.Now()
	limits := func(at time.Time, want []float64) {
		t.Helper()
		eventually(t, func() string {
			job := p.target(t, at)
			if len(job.Variants) != 2 || !slices.Equal(job.VariantLimits, want) {
				return fmt.Sprintf(
					"variants %v with limits %v, want %v; %s",
					job.Variants,
					job.VariantLimits,
					want,
					job.AutoscalerSource,
				)
			}
			return ""
		})
	}
	limits(now, nil)
	first, second := pod("s1"), pod("s2")
	later := now.Add(5 * time.Minute)
	k.Bind(first, "n")
	limits(now, nil) // It is a start as any other.
	limits(later, []float64{math.Inf(1), 64})
	k.Bind(second, "n")
	limits(later, nil)
	k.Delete(first)
	k.Delete(second)
}
