package forecasts_test

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
)

// told are the events about objects.
type told map[string]int

func (e told) Event(about runtime.Object, _, reason, _ string) {
	if object, ok := about.(metav1.Object); ok {
		e[object.GetName()+" "+reason]++
	}
}

// testRefused has the API server refuse the statuses of another tenant's Forecasts, which have an urgent change at every step: too large
// for etcd, by an admission policy, and by a schema. Those of the namespace default are written every minute.
func testRefused(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	spec := map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "d"}, "signal": map[string]any{"query": "x"},
	}
	for _, n := range []int{3, 50} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Cleanup(func() { deleteAll(t, c) })
			c.MustKubectl(t, forecast("a", "x")+"---"+forecast("b", "x"), "create", "-f", "-")
			evil := c.Refused(t, "Forecast", "evil", n, spec)
			log, events := &processtest.LogBuffer{}, told{}
			s := &scene{
				T:         t,
				client:    forecastsOf(t, c.Config),
				objects:   watch(t, c.Config),
				snapshots: &snapshot.Store{},
			}
			s.writer = forecasts.NewStatusWriter(s.objects, s.snapshots, slog.New(slog.NewTextHandler(log, nil)))
			s.writer.SetEvents(events)
			eventually(
				t,
				func() string { return apiservertest.Differs("Forecasts", len(s.objects.List(noon())), n+2) },
			)
			if oldest := s.playRefused(evil); oldest > 65*time.Second {
				t.Errorf("a status of another tenant is %s old", oldest)
			} else {
				t.Logf("the oldest status of another tenant: %s", oldest)
			}
			for _, name := range evil {
				if lines := strings.Count(
					log.String(),
					"evil/"+name+" ",
				); n == 3 &&
					(lines != 1 || events[name+" StatusNotWritten"] != 1) {
					t.Errorf("%s: %d lines, %d events", name, lines, events[name+" StatusNotWritten"])
				}
			}
		})
	}
}

// playRefused plays four minutes, and returns how old a status of a and b was at most.
func (s *scene) playRefused(evil []string) (oldest time.Duration) {
	s.Helper()
	for i := range 120 {
		now := noon().Add(time.Duration(i) * 2 * time.Second)
		entries := []*snapshot.ForecastSnapshot{entry("a", now), entry("b", now)}
		for _, name := range evil {
			e := entry(name, now)
			e.Key.Namespace = "evil"
			e.Conditions[0].Reason = fmt.Sprint("Reason", i)
			entries = append(entries, e)
		}
		publish(s.snapshots, now, entries...)
		if _, err := s.writer.Step(s.Context(), now); err != nil {
			s.Errorf("step %d: %v", i, err)
		}
		time.Sleep(50 * time.Millisecond)
		for _, name := range []string{"a", "b"} {
			status, _ := stored(s.T, s.client, name)
			written := noon()
			if status.SampleTime != nil {
				written = status.SampleTime.Add(12 * time.Second)
			}
			oldest = max(oldest, now.Sub(written))
		}
	}
	return oldest
}
