package signal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

func TestLookup(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"vllm/infligth", "did you mean vllm/inflight?"},
		{"VLLM/queue", "did you mean vllm/queue?"},
		{"vlm", "did you mean vllm/arrivals, vllm/inflight, vllm/kv-cache, vllm/queue?"},
		{"kv-cache", "sglang/kv-cache"},
		{"tgi/kv-cache", "TGI does not report its KV cache; use tgi/inflight"},
		{"nothing like it", "`forewarm presets` lists all presets; or write your own query"},
		{"", "`forewarm presets` lists all presets"},
	} {
		_, err := signal.Lookup(tt.name)
		if !errors.Is(err, signal.ErrUnknown) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want ErrUnknown with %q", tt.name, err, tt.want)
		}
	}
}

// Whoever wants a preset a little different starts from its query, which must pass where a tenant's own does.
func TestRenderedPresetsPassAsQueries(t *testing.T) {
	for _, p := range signal.Presets() {
		for _, kind := range []string{"Deployment", "LeaderWorkerSet", "Rollout"} {
			expr := render(t, p.Name, signal.Target{Kind: kind, Name: "llama"})
			if again := render(t, p.Name, signal.Target{Kind: kind, Name: "llama"}); again != expr {
				t.Errorf("%s is rendered differently the second time", p.Name)
			}
			if err := signal.CheckQuery(expr); err != nil {
				t.Errorf("%s of a %s: %v", p.Name, kind, err)
			}
			// What nodes share is not the namespace's own.
			if _, err := signal.Confine(expr, "namespace", "ai", ""); err != nil && p.Name != "dcgm/gpus-allocated" {
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
