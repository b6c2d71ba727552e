package signal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

// scenario is what a preset must make of a load, the expected figure worked out by hand.
type scenario struct {
	preset string
	// trap is what would be counted wrongly; "" for the ordinary case.
	trap string
	// kind and name of the target; Deployment llama where they are empty.
	kind, name string
	load       string
	want       string
}

// shorthands are the labels of the pods that loads speak of: $A and $B are those of Deployment llama, $X one of
// Deployment llama-2, whose name begins alike, and $P llama's namesake in another namespace.
var shorthands = strings.NewReplacer(
	"$A", `namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:80"`,
	"$B", `namespace="ai",pod="llama-7d9-b",instance="10.0.0.2:80"`,
	"$X", `namespace="ai",pod="llama-2-55-x",instance="10.0.0.9:80"`,
	"$P", `namespace="prod",pod="llama-7d9-a",instance="10.0.1.1:80"`,
)

const neighbours = `
  kube_pod_owner{namespace="ai",pod="llama-2-55-x",owner_kind="ReplicaSet",owner_name="llama-2-55"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="llama-2-55",owner_kind="Deployment",owner_name="llama-2"} 1x40
`

func scenarios() []scenario {
	return slices.Concat(gpuScenarios(), engineScenarios(), serverScenarios(), gatewayScenarios(), ownerScenarios())
}

// Every scenario holds however the series were scraped.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios() {
		target := signal.Target{Kind: s.kind, Name: s.name}
		if s.kind == "" {
			target = signal.Target{Kind: "Deployment", Name: "llama"}
		}
		known, load := owners+neighbours, shorthands.Replace(s.load)
		all := map[string]string{
			"honoured": known + load,
			"exported": exported(known+load, "monitoring", "exporter-0"),
			"twice":    twice(known + load),
		}
		if strings.HasPrefix(s.preset, "dcgm/") { // Two exporters, each scraped in its own way.
			all["owners honoured"] = known + exported(load, "gpu-operator", "dcgm-x")
			all["owners exported"] = exported(known, "monitoring", "ksm-0") + load
		}
		for how, scraped := range all {
			t.Run(s.preset+"/"+s.trap+"/"+target.Kind+"/"+how, func(t *testing.T) {
				evaluates(t, scraped, expectation{expr: render(t, s.preset, target), want: s.want})
			})
		}
	}
}

// A preset without an ordinary case and a trap is not known to work.
func TestEachPresetHasItsScenarios(t *testing.T) {
	ordinary, traps := map[string]bool{}, map[string]bool{}
	for _, s := range scenarios() {
		if s.trap == "" {
			ordinary[s.preset] = true
		} else {
			traps[s.preset] = true
		}
	}
	for _, preset := range signal.PresetNames() {
		if !ordinary[preset] {
			t.Errorf("%s has no ordinary case in the scenarios", preset)
		}
		if !traps[preset] {
			t.Errorf("%s has no trap in the scenarios", preset)
		}
	}
}

// Nothing reported is not nothing asked: there is no series, never 0. The same where the owners are not known.
func TestAbsenceIsNoSeries(t *testing.T) {
	var everything strings.Builder
	for _, s := range scenarios() {
		if s.trap == "" {
			everything.WriteString(shorthands.Replace(s.load))
		}
	}
	var silent, unowned []expectation
	for _, p := range signal.Presets() {
		llama := render(t, p.Name, signal.Target{Kind: "Deployment", Name: "llama"})
		silent = append(silent, expectation{expr: llama})
		missing := render(t, p.Name, signal.Target{Kind: "Deployment", Name: "missing"})
		unowned = append(unowned, expectation{expr: missing})
	}
	evaluates(t, owners+neighbours, silent...)
	evaluates(t, owners+neighbours+unique(everything.String()), unowned...)
}

// unique drops repeated series.
func unique(load string) string {
	seen := map[string]bool{}
	var kept []string
	for line := range strings.Lines(load) {
		series, _, _ := strings.Cut(line, "} ")
		if !seen[series] {
			seen[series] = true
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
