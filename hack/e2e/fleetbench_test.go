package e2e_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// spent is the CPU time of each process in seconds, less what was spent before.
func (s *stage) spent(before map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, p := range s.Processes() {
		out[p.Name] = math.Round(100*(p.Usage().CPU.Seconds()-before[p.Name])) / 100
	}
	return out
}

// TestFleetBench measures HPAs that the real controller syncs every five seconds: do they all read their metric, and at what cost?
func TestFleetBench(t *testing.T) {
	if os.Getenv("FOREWARM_BENCH") == "" {
		t.Skip("FOREWARM_BENCH is unset: run `make bench-serving`")
	}
	const n = 300
	s := setUp(t, clustertest.Options{Sync: 5 * time.Second, Stabilization: time.Second})
	s.observe(t)
	s.forewarm(t, "deploy/default", 1)
	s.fleet(t, n)
	before, answered := s.spent(nil), s.answered(t)
	time.Sleep(time.Minute)
	read, due := s.answered(t)-answered, n*time.Minute.Seconds()/s.Sync.Seconds()
	t.Logf("in a minute %.0f of %.0f syncs read their metric; CPU seconds: %v", read, due, s.spent(before))
}

// answered is how many values of external metrics the first replica has given.
func (s *stage) answered(t *testing.T) (sum float64) {
	t.Helper()
	text, err := s.ask(s.replicas[0].URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	counters := regexp.MustCompile(`(?m)^apiserver_request_total\{.*code="200".*group="external.metrics.* (\S+)$`)
	for _, counter := range counters.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(counter[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}
