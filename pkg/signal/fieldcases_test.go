package signal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/signal"
)

// at is a value of a preset at a time.
type at struct{ preset, at, want string }

// fieldCase is a load as public reports have it, and what presets must make of it.
type fieldCase struct {
	name string
	// target is LeaderWorkerSet big where gang is set, Deployment llama otherwise.
	gang bool
	load string
	// step between scrapes; 15 s where empty.
	step string
	want []at
}

// What went wrong with neighboring projects must not go wrong here.
func TestCasesFromTheField(t *testing.T) {
	for _, c := range fieldCases() {
		t.Run(c.name, func(t *testing.T) {
			target, known := signal.Target{Kind: "Deployment", Name: "llama"}, bothPods
			if c.gang {
				target, known = signal.Target{Kind: "LeaderWorkerSet", Name: "big"}, gangs
			}
			trusted := trust()
			if c.step != "" {
				interval, err := time.ParseDuration(c.step)
				if err != nil {
					t.Fatal(err)
				}
				trusted.ScrapeInterval = interval
			}
			var all []expectation
			for _, want := range c.want {
				p, err := signal.Lookup(want.preset)
				if err != nil {
					t.Fatal(err)
				}
				expr, err := p.Render("ai", target, trusted)
				if err != nil {
					t.Fatal(err)
				}
				for when := range strings.SplitSeq(want.at, ",") {
					all = append(all, expectation{expr: expr, want: want.want, at: when})
				}
			}
			evaluatesEvery(t, c.step, known+shorthands.Replace(c.load), all...)
		})
	}
}
