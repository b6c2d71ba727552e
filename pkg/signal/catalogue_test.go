package signal_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

func TestLookup(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"vllm/infligth", "did you mean vllm/inflight?"},
		{"VLLM/queue", "did you mean vllm/queue?"},
		{"vlm", "did you mean vllm/arrivals, vllm/inflight, vllm/kv-cache, vllm/offered, vllm/queue?"},
		{"kv-cache", "sglang/kv-cache"},
		{"tgi/kv-cache", "TGI does not report its KV cache; use tgi/inflight"},
		{"nothing like it", "run `forewarm presets` to list all presets, or write your own query"},
		{"", "run `forewarm presets` to list all presets"},
	} {
		_, err := signal.Lookup(tt.name)
		if !errors.Is(err, signal.ErrUnknown) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want ErrUnknown with %q", tt.name, err, tt.want)
		}
	}
}

// A user who wants a preset a little different starts from its query, which must pass where a tenant's own does.
func TestRenderedPresetsPassAsQueries(t *testing.T) {
	for _, p := range signal.Presets() {
		for _, kind := range []string{"Deployment", "LeaderWorkerSet", "Rollout"} {
			expr := render(t, p.Name, signal.Target{Kind: kind, Name: "llama"})
			if again := render(t, p.Name, signal.Target{Kind: kind, Name: "llama"}); again != expr {
				t.Errorf("%s is rendered differently the second time", p.Name)
			}
			if _, err := promexpr.Parse(expr); err != nil {
				t.Errorf("%s of a %s: %v", p.Name, kind, err)
			}
			// What nodes share is not the namespace's own.
			if _, err := promexpr.Confine(expr, "namespace", "ai", ""); err != nil && p.Name != "dcgm/gpus-allocated" {
				t.Errorf("%s of a %s: %v", p.Name, kind, err)
			}
			if rate := strings.Contains(expr, "rate("); p.Rate && !rate {
				t.Errorf("%s says that it is a rate, its query has none", p.Name)
			}
		}
	}
}

// The catalogue is read by people: each entry must say what it is.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range signal.Presets() {
		if seen[p.Name] {
			t.Errorf("%s stands twice", p.Name)
		}
		seen[p.Name] = true
		if strings.Count(p.Name, "/") != 1 || p.Unit == "" || !strings.HasSuffix(p.Summary, ".") {
			t.Errorf("preset %+v: want source/signal, a unit and a summary that is a sentence", p)
		}
		if p.Brief == "" || p.Target == "" {
			t.Errorf("%s does not say what it is for, or what target to set", p.Name)
		}
		if p.Rate != strings.HasSuffix(p.Unit, "/s") {
			t.Errorf("%s: unit %q and rate %v disagree", p.Name, p.Unit, p.Rate)
		}
	}
}

// Of each server the four signals are there or missed with a reason.
func TestEachServerHasOrLacksTheSignals(t *testing.T) {
	for _, s := range signal.Sources() {
		if s.Title == "" || !strings.HasSuffix(s.Note, ".") {
			t.Errorf("%s: want a title and a note that is a sentence", s.Name)
		}
		if s.Name == "dcgm" || s.Name == "nvml" {
			continue
		}
		said := map[string]int{}
		for _, p := range s.Presets {
			said[strings.TrimPrefix(p.Name, s.Name+"/")]++
		}
		for _, l := range s.Unsupported {
			said[l.Signal]++
		}
		for _, kind := range []string{"inflight", "arrivals", "queue", "kv-cache"} {
			if said[kind] != 1 {
				t.Errorf("%s/%s is spoken of %d times, want once", s.Name, kind, said[kind])
			}
		}
	}
}

// owners is what kube-state-metrics says of namespace ai: a Deployment with an old and a new ReplicaSet, a StatefulSet,
// a LeaderWorkerSet of two groups, an Argo Rollout; and a Deployment of the same name elsewhere. %s is the scrape's own
// labels.
const owners = `
  kube_pod_owner{namespace="ai",pod="llama-7d9-a",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x40
  kube_pod_owner{namespace="ai",pod="llama-7d9-b",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x40
  kube_pod_owner{namespace="ai",pod="llama-old-c",owner_kind="ReplicaSet",owner_name="llama-old"} 1x40
  kube_pod_owner{namespace="ai",pod="other-555-a",owner_kind="ReplicaSet",owner_name="other-555"} 1x40
  kube_pod_owner{namespace="ai",pod="db-0",owner_kind="StatefulSet",owner_name="db"} 1x40
  kube_pod_owner{namespace="ai",pod="lws-0",owner_kind="StatefulSet",owner_name="lws"} 1x40
  kube_pod_owner{namespace="ai",pod="lws-1",owner_kind="StatefulSet",owner_name="lws"} 1x40
  kube_pod_owner{namespace="ai",pod="lws-0-1",owner_kind="StatefulSet",owner_name="lws-0"} 1x40
  kube_pod_owner{namespace="ai",pod="lws-7-0",owner_kind="StatefulSet",owner_name="lws-7"} 1x40
  kube_pod_owner{namespace="ai",pod="roll-1-a",owner_kind="ReplicaSet",owner_name="roll-1"} 1x40
  kube_pod_owner{namespace="ai",pod="bare",owner_kind="<none>",owner_name="<none>"} 1x40
  kube_pod_owner{namespace="gpu-operator",pod="dcgm-x",owner_kind="DaemonSet",owner_name="dcgm"} 1x40
  kube_pod_owner{namespace="prod",pod="llama-7d9-a",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="llama-7d9",owner_kind="Deployment",owner_name="llama"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="llama-old",owner_kind="Deployment",owner_name="llama"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="other-555",owner_kind="Deployment",owner_name="other"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="roll-1",owner_kind="Rollout",owner_name="roll"} 1x40
  kube_replicaset_owner{namespace="prod",replicaset="llama-7d9",owner_kind="Deployment",owner_name="llama"} 1x40
`

// exported is the same series as Prometheus stores them without honorLabels.
func exported(load, namespace, pod string) string {
	load = strings.ReplaceAll(load, `,pod="`, `,exported_pod="`)
	return strings.ReplaceAll(load, `namespace="`, `namespace="`+namespace+`",pod="`+pod+`",exported_namespace="`)
}

// twice adds a copy of every series as a second scrape job or a second kube-state-metrics would.
func twice(load string) string {
	return load + strings.ReplaceAll(load, `{`, `{job="second",`)
}

// In saturation first tokens plateau; the queue's growth is the rest of what arrives. A pod that restarts drops its
// queue, which takes nothing from what the others report.
func TestArrivalsUnderSaturation(t *testing.T) {
	const load = owners + `
  vllm:num_requests_waiting{namespace="ai",pod="llama-7d9-a",instance="a",engine="0"} 0+60x40
  vllm:num_requests_waiting{namespace="ai",pod="llama-7d9-b",instance="b",engine="0"} 900x18 0x22
  vllm:time_to_first_token_seconds_count{namespace="ai",pod="llama-7d9-a",instance="a",engine="0"} 0+30x40
  vllm:time_to_first_token_seconds_count{namespace="ai",pod="llama-7d9-b",instance="b",engine="0"} 0+15x18 0x22
`
	expr := render(t, "vllm/arrivals", signal.Target{Kind: "Deployment", Name: "llama"})
	evaluates(t, load,
		expectation{expr: expr, want: "{} 7", at: "3m"}, // (30 + 60)/15 + 15/15
		expectation{expr: expr, want: "{} 6", at: "5m"}) // the restarted pod counts 0, not less
}

func TestHostileNamesAreQuoted(t *testing.T) {
	hostile := `x"} or vector(1) or up{a="\`
	for _, p := range signal.Presets() {
		expr, err := p.Render(`ai"}`, signal.Target{Kind: `D"{`, Name: strings.ReplaceAll(hostile, " ", "")}, trust())
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		for _, matchers := range parser.ExtractSelectors(root) {
			confined := ofNodes(matchers)
			for _, m := range matchers {
				confined = confined || strings.HasSuffix(m.Name, "namespace") && m.Value == `ai"}`
			}
			if !confined {
				t.Errorf("%s: a selector %v without the namespace", p.Name, matchers)
			}
		}
	}
}

func TestImpossibleNamesAreErrors(t *testing.T) {
	p, err := signal.Lookup("vllm/inflight")
	if err != nil {
		t.Fatal(err)
	}
	for what, name := range map[string]string{
		"is empty": "", "at most 253": strings.Repeat("x", 254), "not UTF-8": "a\xff", "white space": "a b", "control": "a\nb",
	} {
		if _, err := p.Render("ai", signal.Target{Kind: "Deployment", Name: name}, trust()); err == nil ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("name %q: error %v, want one that says %q", name, err, what)
		}
	}
}

// trust is the common charts' exporters, and a gateway that reports for the servers behind it.
func trust() signal.Trust {
	return signal.Trust{Exporters: append(signal.DefaultTrust().Exporters, "gateway")}
}

func render(t *testing.T, preset string, target signal.Target) string {
	t.Helper()
	p, err := signal.Lookup(preset)
	if err != nil {
		t.Fatal(err)
	}
	expr, err := p.Render("ai", target, trust())
	if err != nil {
		t.Fatal(err)
	}
	return expr
}

// expectation is what an expression yields at five minutes, or at another time.
type expectation struct{ expr, want, at string }

func evaluates(t *testing.T, load string, expectations ...expectation) {
	t.Helper()
	evaluatesEvery(t, "", load, expectations...)
}

// evaluatesEvery is evaluates for samples that are a step apart, 15 s where it is empty.
func evaluatesEvery(t *testing.T, step, load string, expectations ...expectation) {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: 10 * time.Second, EnableAtModifier: true, EnableNegativeOffset: true,
	})
	var script strings.Builder
	script.WriteString(
		"load " + cmp.Or(step, "15s") + strings.ReplaceAll(load, "\n\n", "\n"),
	) // A blank line ends the load.
	for _, e := range expectations {
		fmt.Fprintf(&script, "\neval instant at %s %s\n  %s\n", cmp.Or(e.at, "5m"), e.expr, e.want)
	}
	promqltest.RunTest(t, script.String(), engine)
}
