package signal_test

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/signal"
)

// samples are the values of a series in a load: a beginning, a growth and a number of steps.
var samples = regexp.MustCompile(`} ([0-9.]+)(\+[0-9.]+)?x40\n`)

// missed is a load without the eighth sample of each series of pod llama-7d9-a.
func missed(t *testing.T, load string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(load) {
		if m := samples.FindStringSubmatch(line); m != nil && strings.Contains(line, `pod="llama-7d9-a"`) {
			first, err := strconv.ParseFloat(m[1], 64)
			growth, bad := strconv.ParseFloat(cmp.Or(m[2], "0"), 64)
			if err != nil || bad != nil {
				t.Fatal(err, bad)
			}
			line = strings.Replace(line, m[0], fmt.Sprintf("} %s%sx7 _ %g%sx31\n", m[1], m[2], first+9*growth, m[2]), 1)
		}
		out.WriteString(line)
	}
	return out.String()
}

// withGhost is a load with a copy of pod llama-7d9-a, which kube-state-metrics knows for three minutes only. All of it lasts for half an hour.
func withGhost(load string) string {
	var out strings.Builder
	for line := range strings.Lines(load) {
		out.WriteString(line)
		if strings.Contains(line, `pod="llama-7d9-a"`) && !strings.Contains(line, "kube_") &&
			strings.Contains(line, `namespace="ai"`) {
			ghost := strings.ReplaceAll(
				strings.ReplaceAll(line, `pod="llama-7d9-a"`, `pod="llama-7d9-z"`),
				"10.0.0.1:",
				"10.0.0.26:",
			)
			out.WriteString(regexp.MustCompile(`(?i)(uuid="GPU-)`).ReplaceAllString(ghost, "${1}9"))
		}
	}
	return strings.ReplaceAll(out.String(), "x40\n", "x120\n") +
		`  kube_pod_owner{namespace="ai",pod="llama-7d9-z",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x12 stale` + "\n"
}

// Every preset, next to each of the faults that a platform team meets: the value is right, or there is none. (The faults that copy a scrape
// are in TestCopiesOfAScrapeAreNoDemand.)
func TestPresetsUnderFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing is concurrent here")
	}
	llama := signal.Target{Kind: "Deployment", Name: "llama"}
	done := map[string]bool{}
	for _, s := range scenarios() {
		server, _, _ := strings.Cut(s.preset, "/")
		if s.trap != "" || s.kind != "" || done[s.preset] {
			continue
		}
		done[s.preset] = true
		preset, err := signal.Lookup(s.preset)
		if err != nil {
			t.Fatal(err)
		}
		render := func(t *testing.T, trusted signal.Trust) string {
			t.Helper()
			rendered, bad := preset.Render("ai", llama, trusted)
			if bad != nil {
				t.Fatal(bad)
			}
			return rendered
		}
		load := owners + neighbours + shorthands.Replace(s.load)
		want, err := strconv.ParseFloat(strings.TrimPrefix(s.want, "{} "), 64)
		if err != nil {
			t.Fatal(err)
		}
		switch { // Samples are a minute apart and not 15 s.
		case preset.Rate:
			want /= 4
		case s.preset == "triton/inflight":
			want = 4 + 2./4 // The latter is a rate.
		}
		if !strings.HasSuffix(s.preset, "/offered") { // It is the load of a step, and no scrape is as old.
			t.Run(s.preset+"/a scrape is missed at an interval of 60 s", func(t *testing.T) {
				slow := trust()
				slow.ScrapeInterval = time.Minute
				expr := fmt.Sprintf("round(%s, 0.000001)", render(t, slow))
				var all []expectation
				for _, at := range []string{"7m30s", "8m30s", "9m30s", "10m30s"} {
					all = append(all, expectation{expr: expr, at: at, want: fmt.Sprintf("{} %g", want)})
				}
				evaluatesEvery(t, "1m", missed(t, load), all...)
			})
		}
		inFront := server == "gateway" || server == "dynamo" // Their pods are not the target's.
		fromOwners := s.preset == "dcgm/gpus-allocated"      // kube-state-metrics reports it itself.
		if inFront || fromOwners {
			continue
		}
		expr := render(t, trust())
		t.Run(s.preset+"/a deleted pod is still reported", func(t *testing.T) {
			evaluates(t, withGhost(load), expectation{expr: "round(" + expr + ", 0.000001)", at: "25m", want: s.want})
		})
		t.Run(s.preset+"/a shard of kube-state-metrics is away", func(t *testing.T) {
			const known = `pod="llama-7d9-a",owner_kind`
			evaluates(
				t,
				without(load, known),
				expectation{expr: expr},
				expectation{expr: signal.UnknownOwner(expr), want: "{} 1"},
			)
		})
	}
	for _, preset := range signal.PresetNames() {
		if !done[preset] {
			t.Errorf("%s has not been tried", preset)
		}
	}
}
