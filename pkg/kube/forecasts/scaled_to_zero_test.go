package forecasts_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// testSlept: the leader writes when the workload stands at zero, and all replicas read it, with a fixed lead time too.
func testSlept(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	object := fmt.Sprintf(good, "a", "signal: {query: x}\n  leadTime: {mode: Fixed, duration: 4m}")
	c.MustKubectl(t, deployment+"---"+object, "create", "-f", "-")
	k := newKubelet(t, c)
	p := k.create("p", "ReplicaSet", "llama-5d4f")
	one := newProcess(t, c)
	now := time.Now().Truncate(time.Second)
	one.lead(t, now, 0)
	if one.target(t, now).ScaledToZero.Any() {
		t.Error("a workload with a replica is remembered as one without")
	}
	c.MustKubectl(t, "", "scale", "deployment", "llama", "--replicas=0")
	k.Delete(p)
	asleep := func(p *process, at time.Time) bool { return p.target(t, at).ScaledToZero.At(at) }
	step := func(p *process, want bool) {
		t.Helper()
		eventually(t, func() string {
			now = now.Add(10 * time.Second)
			p.lead(t, now, 0)
			if asleep(p, now.Add(15*time.Second)) != want {
				return fmt.Sprintf("at zero: want %v; %v", want, p.target(t, now).ScaledToZero)
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
	for range 36 {
		now = now.Add(10 * time.Minute)
		one.lead(t, now, 0)
	}
	c.MustKubectl(t, "", "scale", "deployment", "llama", "--replicas=1")
	k.create("q", "ReplicaSet", "llama-5d4f")
	step(two, false)
	for at, want := range map[time.Duration]bool{-time.Minute: false, time.Minute: true, 5 * time.Hour: true, 8 * time.Hour: false} {
		if got := two.target(t, now).ScaledToZero.At(fell.Add(at)); got != want {
			t.Errorf("%s after it fell asleep: at zero %v, want %v", at, got, want)
		}
	}

	// Another workload's times are not this one's, nonsense is none.
	status, _ := stored(t, two.client, "a")
	for _, s := range []struct {
		name string
		held v1alpha1.ScaledToZero
		want bool
	}{
		{"another workload's", v1alpha1.ScaledToZero{Workload: "Deployment.apps/mistral", Changes: status.ScaledToZero.Changes}, false},
		{"its own", *status.ScaledToZero, true},
		{"nonsense", v1alpha1.ScaledToZero{Workload: status.ScaledToZero.Workload, Changes: []int64{5, 4}}, false},
	} {
		patch(t, c, "a", v1alpha1.ForecastStatus{ScaledToZero: &s.held})
		eventually(t, func() string {
			return apiservertest.Differs(s.name, two.target(t, now).ScaledToZero.Any(), s.want)
		})
	}
}

// patch puts what it has of a status into that of a Forecast.
func patch(t *testing.T, c *apiservertest.Cluster, name string, status v1alpha1.ForecastStatus) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		t.Fatal(err)
	}
	c.MustKubectl(t, "", "patch", "forecast", name, "--subresource=status", "--type=merge", "-p", string(text))
}
