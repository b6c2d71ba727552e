package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/doctor"
)

// wavesBy answers as waves does, to a replica whose clock is ahead: for it, the present and the newest sample are in the past.
func wavesBy(ahead time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		now := float64(time.Now().Add(-ahead).UnixMilli()) / 1000
		if r.FormValue("query") == "time()" {
			fmt.Fprintf(w, `{"status":"success","data":{"resultType":"scalar","result":[%.3f,"%.3f"]}}`, now, now)
			return
		}
		wavesUntil(w, r, now)
	}
}

// differ checks what every replica says in its metrics.
func (s *scene) differ(t *testing.T, reasons ...string) {
	t.Helper()
	within(t, 90*time.Second, func() string {
		for _, r := range s.replicas {
			_, body := r.get(t, "/metrics")
			for _, reason := range []string{"ClocksDiffer", "VersionsDiffer", "SettingsDiffer"} {
				is := 0
				if slices.Contains(reasons, reason) {
					is = 1
				}
				if want := fmt.Sprintf(
					"forewarm_replicas_differ{reason=%q} %d\n",
					reason,
					is,
				); !strings.Contains(
					body,
					want,
				) {
					return want + "is not on " + r.url
				}
			}
		}
		return ""
	})
}

// TestReplicasThatDiffer: replicas whose clock is two minutes off, and replicas with other flags, are reported by the status, the metrics
// and the doctor. Flags that decide no value are not.
func TestReplicasThatDiffer(t *testing.T) {
	s := &scene{Cluster: apiservertest.Start(t)}
	store := func(ahead time.Duration) string {
		history := httptest.NewServer(wavesBy(ahead))
		t.Cleanup(history.Close)
		return "--prometheus-url=" + history.URL
	}
	right := store(0)
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	s.MustKubectl(t, "", "create", "namespace", "team")
	s.MustKubectl(t, forecast("load", "query: up", "0.9"), "apply", "-f", "-")
	add := func(flags ...string) *replica {
		t.Helper()
		s.replicas = append(s.replicas, start(t, s.Cluster, flags...))
		return s.replicas[len(s.replicas)-1]
	}
	drop := func(r *replica) {
		t.Helper()
		r.stop(t)
		s.replicas = slices.DeleteFunc(s.replicas, func(other *replica) bool { return other == r })
	}
	condition := func(want string) {
		t.Helper()
		eventually(t, func() string {
			if got := s.status(t, "load", `conditions[?(@.type=="ReplicasAgree")].reason`); got != want {
				return fmt.Sprintf("the condition's reason is %q, want %q", got, want)
			}
			return ""
		})
	}
	diagnosis := func(level doctor.Level, words ...string) {
		t.Helper()
		eventually(t, func() string {
			all := examine(t, s.Config)
			if (&ailment{check: "Replicas", level: level, words: words}).found(all) == nil {
				return fmt.Sprintf("the doctor does not say %v:%s", words, described(all))
			}
			return ""
		})
	}

	add(right)
	add(right, "--log-level=debug", "--query-timeout=20s", "--query-concurrency=8")
	s.differ(t)
	diagnosis(doctor.OK, "2 replicas")
	condition("")

	began := time.Now()
	wrong := add(store(2 * time.Minute))
	condition("ClocksDiffer")
	t.Logf("a clock that is two minutes ahead: reported %s after the start", time.Since(began).Round(time.Second))
	s.differ(t, "ClocksDiffer", "SettingsDiffer") // Its store has another address.
	diagnosis(doctor.Warning, "ClocksDiffer", "2m ahead", "NTP")
	diagnosis(doctor.Warning, "SettingsDiffer", "--prometheus-url")
	began = time.Now()
	drop(wrong)
	s.differ(t)
	condition("")
	t.Logf("it ended: no more reported after %s", time.Since(began).Round(time.Second))

	began = time.Now()
	add(right, "--season=12h")
	s.differ(t, "SettingsDiffer")
	t.Logf("another season: reported %s after the start", time.Since(began).Round(time.Second))
	diagnosis(doctor.Warning, "SettingsDiffer", "--season", "rollout")
	condition("") // It may be a rollout.
}
