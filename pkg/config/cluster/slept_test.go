package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/testcluster"
)

// testSlept: the leader writes when the workload stands at zero, and all replicas read it, with a fixed lead time too.
func testSlept(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	object := fmt.Sprintf(good, "a", "signal: {query: x}\n  leadTime: {mode: Fixed, duration: 4m}")
	c.MustKubectl(t, deployment+"---"+object, "create", "-f", "-")
	k := newKubelet(t, c)
	p := k.create("p", "ReplicaSet", "llama-5d4f")
	one := newProcess(t, c)
	now := time.Now().Truncate(time.Second)
	one.lead(t, now, 0)
	if one.target(t, now).AtZero.Any() {
		t.Error("a workload with a replica is remembered as one without")
	}
	c.MustKubectl(t, "", "scale", "deployment", "llama", "--replicas=0")
	k.Delete(p)
	asleep := func(p *process, at time.Time) bool { return p.target(t, at).AtZero.At(at) }
	step := func(p *process, want bool) {
		t.Helper()
		eventually(t, func() string {
			now = now.Add(10 * time.Second)
			p.lead(t, now, 0)
			if asleep(p, now.Add(15*time.Second)) != want {
				return fmt.Sprintf("at zero: want %v; %v", want, p.target(t, now).AtZero)
			}
			return ""
		})
	}
	step(one, true)
	fell := now

	two := newProcess(t, c)
	if diff := cmp.Diff(one.target(t, now), two.target(t, now)); diff != "" {
		t.Errorf("replicas disagree: %s", diff)
	}
	now = now.Add(6 * time.Hour)
	c.MustKubectl(t, "", "scale", "deployment", "llama", "--replicas=1")
	k.create("q", "ReplicaSet", "llama-5d4f")
	step(two, false)
	for at, want := range map[time.Duration]bool{-time.Minute: false, time.Minute: true, 5 * time.Hour: true, 8 * time.Hour: false} {
		if got := two.target(t, now).AtZero.At(fell.Add(at)); got != want {
			t.Errorf("%s after it fell asleep: at zero %v, want %v", at, got, want)
		}
	}

	// Another workload's times are not this one's, nonsense is none.
	status, _ := stored(t, two.client, "a")
	for _, s := range []struct {
		of, record string
		want       bool
	}{
		{"Deployment.apps/mistral", status.AtZero.Record, false},
		{status.AtZero.Of, status.AtZero.Record, true},
		{status.AtZero.Of, status.AtZero.Record + " ", false},
	} {
		c.MustKubectl(t, "", "patch", "forecast", "a", "--subresource=status", "--type=merge", "-p",
			fmt.Sprintf(`{"status": {"atZero": {"of": %q, "record": %q}}}`, s.of, s.record))
		eventually(t, func() string {
			if got := two.target(t, now).AtZero.Any(); got != s.want {
				return fmt.Sprintf("with %+v: remembered %v", s, got)
			}
			return ""
		})
	}
}
