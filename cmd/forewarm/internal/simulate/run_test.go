package simulate_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/simulate"
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

const scales = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama}
spec:
  scaleTargetRef: {kind: Deployment, name: llama}
  maxReplicas: 100
  metrics:
    - {type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: 80}}}
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// stopping cancels as soon as a word is written to it.
type stopping struct {
	word   string
	cancel context.CancelFunc
	bytes.Buffer
}

func (s *stopping) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.word) {
		s.cancel()
	}
	return s.Buffer.Write(p)
}

// Who has seen enough gets what there is, marked as such, the page too, and the exit code of an interruption.
func TestInterrupted(t *testing.T) {
	var load strings.Builder
	load.WriteString("t,requests\n")
	for i := range 600 {
		fmt.Fprintf(&load, "%d,%d\n", 60*i, 300+i%120)
	}
	page := filepath.Join(t.TempDir(), "proof.html")
	args := []string{
		"--hpa", write(t, "hpa.yaml", scales), "--trace", write(t, "load.csv", load.String()), "--html", page,
		"--gpu-price", "3", "--shape", "name=quarter,gpus=0.25",
	}
	for _, c := range []struct{ when, want string }{
		{"simulating oracle", "Interrupted: the figures are correct, but some policies or settings are missing."},
		{"reading load.csv", ""},
	} {
		t.Run(c.when, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			words := &stopping{word: c.when, cancel: cancel}
			if c.want == "" {
				cancel()
			}
			var out bytes.Buffer
			err := simulate.Run(ctx, &out, words, args...)
			if err == nil || !strings.Contains(err.Error(), "interrupted") ||
				cmdline.ExitCode(err) != cmdline.Interrupted {
				t.Errorf("%v with exit code %d", err, cmdline.ExitCode(err))
			}
			if !strings.Contains(out.String(), c.want) || c.want == "" && out.Len() > 0 {
				t.Errorf("%q is not said:\n%s", c.want, out.String())
			}
		})
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "<svg") {
		t.Errorf("no page of what there is: %v", err)
	}
}

// Histories with other steps are not shifted: they begin where a step of the longest steps begins.
func TestHistoriesOnOtherGrids(t *testing.T) {
	midnight := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	of := func(name string, start time.Time, step time.Duration) compare.Config {
		s := forecast.Series{Start: start, Step: step}
		for at := start; at.Before(midnight.Add(7 * 24 * time.Hour)); at = at.Add(step) {
			s.Values = append(s.Values, float64(at.Hour()))
		}
		return compare.Config{Source: name, Demand: s}
	}
	all := []compare.Config{of("hourly", midnight, time.Hour), of("minutes", midnight.Add(59*time.Minute), time.Minute)}
	if err := simulate.CutToCommon(all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if s := c.Demand; !s.Start.Equal(midnight.Add(time.Hour)) || s.Values[0] != 1 {
			t.Errorf("%s begins at %s with %v", c.Source, s.Start, s.Values[0])
		}
	}
}

// An interrupted simulation of a fleet says that there are no results.
func TestInterruptedFleet(t *testing.T) {
	const traces = "../../../../testdata/traces/"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	err := simulate.Run(ctx, &out, &stopping{word: "simulating Forewarm on llm", cancel: cancel},
		"--fleet", traces+"fleet.yaml", "--hpa", traces+"fleet_hpas.yaml",
		"--history", "llm="+traces+"llm_14d.csv.gz", "--history", "office="+traces+"office_14d.csv.gz")
	if err == nil || !strings.Contains(err.Error(), "interrupted: there are no results") ||
		cmdline.ExitCode(err) != cmdline.Interrupted || out.Len() > 0 {
		t.Errorf("%v with exit code %d: %s", err, cmdline.ExitCode(err), out.String())
	}
}

// A page that cannot be written is an error, and names the file.
func TestPageThatCannotBeWritten(t *testing.T) {
	var load strings.Builder
	load.WriteString("t,requests\n")
	for i := range 90 {
		fmt.Fprintf(&load, "%d,%d\n", 60*i, 300)
	}
	var out bytes.Buffer
	dir := t.TempDir()
	err := simulate.Run(t.Context(), &out, &bytes.Buffer{}, "--hpa", write(t, "hpa.yaml", scales),
		"--trace", write(t, "load.csv", load.String()), "--html", dir)
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want that %s is no file", err, dir)
	}
}
