package demo //nolint:testpackage // What the demo plays is nobody else's.

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/folder"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal"
)

// resolve reads an object as the server does.
func resolve(t *testing.T, text string) refresh.Job {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "forecast.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	resolver := manifest.NewResolver(serve.Catalogue{Label: "namespace", Trust: signal.DefaultTrust()})
	read, err := folder.Open(dir, resolver, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	targets := read.Targets(time.Now())
	if len(targets) != 1 {
		t.Fatalf("%d Forecasts, want 1; problems: %v", len(targets), read.Problems())
	}
	if targets[0].Invalid != "" || len(read.Problems()) > 0 {
		t.Fatalf("invalid: %s %v", targets[0].Invalid, read.Problems())
	}
	return targets[0]
}

func TestAnyTraceHasAValidForecast(t *testing.T) {
	for _, c := range []struct {
		name                      string
		n                         int
		step, wantStep, wantReach time.Duration
	}{
		{"an hour of 10 s, in its own steps", 360, 10 * time.Second, 10 * time.Second, 54 * time.Minute},
		{"two weeks of minutes: nine tenths of them", 20160, time.Minute, time.Minute, 18144 * time.Minute},
		{"months of half hours: two weeks, in twelfths of hours", 10320, 30 * time.Minute, 5 * time.Minute, 14 * day},
		{"days of seconds: as many as may be asked", 500_000, time.Second, time.Second, 100_000 * time.Second},
		{"a minute of seconds: more than there is", 60, time.Second, time.Second, 30 * time.Minute},
		{"tenths of seconds", 6000, 100 * time.Millisecond, time.Second, 30 * time.Minute},
		{"days", 400, day, 5 * time.Minute, 14 * day},
	} {
		for _, sustained := range []float64{40, 0.25, 1e6, 0.001} {
			l := &load{playback: play(t, ramp(c.n, c.step)), name: "trace", target: sustained}
			target := resolve(t, l.manifest(l.TimeAt(c.n*9/10)))
			if target.Step != c.wantStep || target.History != c.wantReach {
				t.Errorf("%s: step %v over %v, want %v over %v", c.name, target.Step, target.History, c.wantStep,
					c.wantReach)
			}
			if p := target.Settings; target.Key.String() != "demo/trace" || !p.ByHeadroom() || p.Target != sustained ||
				p.Late != 0.01 {
				t.Errorf("a replica sustains %v: %s has %+v", sustained, target.Key, p)
			}
		}
	}
}
