package workloads //nolint:testpackage // What is kept of a pod is internal.

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// Whatever the API says of a pod, now and later, a start that is counted took a time that a start can take, and the lead time
// that follows is one.
func FuzzSee(f *testing.F) {
	young := `{"metadata":{"uid":"a","creationTimestamp":"2026-11-20T12:00:00Z"},"status":{}}`
	ready := `{"metadata":{"uid":"a","creationTimestamp":"2026-11-20T12:00:00Z"},"status":{"startTime":"2026-11-20T12:00:02Z",` +
		`"conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-11-20T12:00:01Z"},` +
		`{"type":"Ready","status":"True","lastTransitionTime":"2026-11-20T12:04:00Z"}]}}`
	odd := `{"metadata":{"uid":"a","creationTimestamp":"9999-12-31T23:59:59Z"},"status":{"conditions":` +
		`[{"type":"Ready","status":"True","lastTransitionTime":"0001-01-01T00:00:00Z"}]}}`
	f.Add([]byte(young), []byte(ready))
	f.Add([]byte(young), []byte(odd))
	f.Add([]byte(odd), []byte(odd))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		firsts, recent, record := leadtime.PodTracker{}, leadtime.RecentStarts{}, leadtime.Record{}
		for _, text := range [][]byte{first, second} {
			p := &corev1.Pod{}
			if json.Unmarshal(text, p) != nil {
				t.Skip("not a pod")
			}
			if start, found := firsts.Observe(readPod(p)); found {
				recent.Add(start)
			}
		}
		for _, s := range recent.List() {
			if took := s.Ready.Sub(s.Created); took <= 0 || took > 3*time.Hour {
				t.Fatalf("%+v took %s", s, took)
			}
			for range 10 {
				s.Ready, s.Created = s.Ready.Add(time.Second), s.Created.Add(time.Second)
				record.AddStarts([]leadtime.Start{s}, s.Ready.Add(time.Hour))
			}
			if lead := record.LeadTime(s.Ready.Add(2 * time.Hour)); lead < 0 || lead > 2*time.Hour ||
				record.Validate() != nil {
				t.Fatalf("%+v makes the lead time %s, %v", s, lead, record.Validate())
			}
		}
	})
}
