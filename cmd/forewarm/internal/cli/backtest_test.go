package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

// csv is a demand of so many steps of a minute, NaN for a gap.
func csv(n int, demand func(i int) float64) io.Reader { return csvEvery(60, n, demand) }

// csvEvery is one of longer steps, in seconds: enough of them are the week that a verdict wants.
func csvEvery(step, n int, demand func(i int) float64) io.Reader {
	var out strings.Builder
	out.WriteString("t,load\n")
	for i := range n {
		fmt.Fprintf(&out, "%d,%s\n", 1767571200+step*i, strings.TrimPrefix(fmt.Sprintf("%.6g", demand(i)), "NaN"))
	}
	return strings.NewReader(out.String())
}

// noise is spread evenly from 0 to 1, and the same in every run.
func noise(i int) float64 {
	x := uint32(i)*2654435761 + 12345 //nolint:gosec // It wraps round as it is meant to.
	x ^= x >> 15
	x *= 2246822519
	x ^= x >> 13
	return float64(x) / math.MaxUint32
}

// wave comes again every hour and climbs fast.
func wave(i int) float64 {
	return 100 + 60*math.Sin(2*math.Pi*float64(i%60)/60) + 4*noise(i)
}

// walk goes anywhere: nothing beats its last value.
func walk(n int) func(i int) float64 {
	values := make([]float64, n)
	at := 1000.0
	for i := range values {
		at = math.Max(0, at+20*(noise(i)-0.5))
		values[i] = at
	}
	return func(i int) float64 { return values[i] }
}

type document struct {
	Verdict  string
	TooShort string `json:"too_short"`
	Partial  bool
	Models   []struct {
		Name     string
		Baseline bool
		Error    string
		Horizons []struct {
			Horizon      string
			Count        int
			MAERatioLast *float64 `json:"mae_ratio_last"`
			Window       struct {
				PinballRatioLast *float64 `json:"pinball_ratio_last"`
				Coverage         map[string]*float64
			}
		}
	}
	Notes []string
}

// backtest is the document of a demand and flags.
func backtest(t *testing.T, stdin io.Reader, flags ...string) document {
	t.Helper()
	args := append([]string{"--trace", "-", "--json"}, flags...)
	out, err := cli.BacktestRun(t.Context(), nil, stdin, args...)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// A demand that comes again every hour is known to what knows the hour, and not to the last value; a quantile holds about
// as often as it says.
func TestSeasonIsWorthAModel(t *testing.T) {
	d := backtest(t, csvEvery(600, 1200, wave), "--season", "10h", "--lead-time", "50m", "--model", "holt-winters",
		"--model", "arima", "--horizon", "50m,200m")
	if !strings.HasPrefix(d.Verdict, "Worth it: holt-winters is the best for the peak demand of the next 50 minutes") {
		t.Errorf("verdict %q", d.Verdict)
	}
	seen := map[string]bool{}
	for _, m := range d.Models {
		seen[m.Name] = true
		if m.Error != "" || len(m.Horizons) != 2 {
			t.Fatalf("%s: error %q, horizons %v", m.Name, m.Error, m.Horizons)
		}
		for _, h := range m.Horizons {
			if c := *h.Window.Coverage["0.9"]; math.Abs(c-0.9) > 0.06 {
				t.Errorf("%s at %s: the 90 %% quantile held %.3f", m.Name, h.Horizon, c)
			}
		}
		if r := *m.Horizons[0].MAERatioLast; m.Name == "holt-winters" && r > 0.2 {
			t.Errorf("holt-winters errs %.2f times as much as the last value, want a fraction", r)
		}
		if m.Name == "last-value" && (!m.Baseline || *m.Horizons[1].Window.PinballRatioLast != 1) {
			t.Errorf("the last value is no baseline, or not itself: %+v", m)
		}
	}
	want := map[string]bool{
		"holt-winters": true, "arima": true, "last-value": true, "last-season": true, "running-max": true,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("models (-want +got)\n%s", diff)
	}
}

// Of a random walk nothing is known but where it is, and the verdict says so.
func TestARandomWalkIsNotWorthAModel(t *testing.T) {
	d := backtest(t, csvEvery(600, 3000, walk(3000)), "--lead-time", "50m", "--season", "40h", "--model",
		"holt-winters")
	if !strings.HasPrefix(d.Verdict, "WORSE than a baseline: ") {
		t.Errorf("verdict %q", d.Verdict)
	}
}

func TestConstantDemand(t *testing.T) {
	d := backtest(t, csvEvery(600, 1200, func(int) float64 { return 5 }), "--season", "10h", "--model", "holt-winters")
	if !strings.HasPrefix(d.Verdict, "Nothing to forecast: ") {
		t.Errorf("verdict %q", d.Verdict)
	}
}

// A model that cannot be fitted is named with its reason, and the others go on.
func TestShortHistory(t *testing.T) {
	d := backtest(t, csv(1200, wave), "--model", "holt-winters", "--model", "ses", "--season", "1d")
	if d.Verdict != "" || d.TooShort != "Too short to judge: 20 hours, want a week." {
		t.Errorf("verdict %q, too short: %q", d.Verdict, d.TooShort)
	}
	for _, m := range d.Models {
		switch m.Name {
		case "holt-winters":
			if !strings.Contains(m.Error, "too short") {
				t.Errorf("holt-winters: %q, want that the series is too short", m.Error)
			}
		case "ses":
			if m.Error != "" || m.Horizons[0].Count == 0 {
				t.Errorf("ses: %+v", m)
			}
		}
	}
	notes := strings.Join(d.Notes, "\n")
	for _, want := range []string{"shorter than two seasons of 24 hours", "holt-winters is left out: "} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q, want %q", notes, want)
		}
	}
}

// What keeps anything from being judged is told: gaps in what is judged, or in what is learnt from.
func TestNothingJudged(t *testing.T) {
	for want, known := range map[string]func(i int) bool{
		"no window of 5 minutes (the lead time) is without a gap from 2026-01-05 03:20 to 2026-01-05 06:1": func(i int) bool {
			return i%2 == 0
		},
		"The history before that has too many gaps": func(i int) bool { return i > 204 },
	} {
		out, err := cli.BacktestRun(t.Context(), nil, csv(400, func(i int) float64 {
			if !known(i) {
				return math.NaN()
			}
			return wave(i)
		}), "--trace", "-", "--model", "ses")
		if cmdline.ExitCode(err) != cmdline.ExitFailure || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if !strings.HasPrefix(out, "Nothing could be judged: ") || !strings.Contains(out, "HORIZON") {
			t.Errorf("want the verdict and the figures that there are:\n%s", out)
		}
	}
}

// Of five seasons three are enough to know the season by; of four and a half, too; of fewer than four only the half is
// learnt from.
func TestSeasonsToLearnFrom(t *testing.T) {
	for minutes, knows := range map[int]bool{300: true, 250: true, 230: false} {
		d := backtest(t, csv(minutes, wave), "--model", "holt-winters", "--model", "ses", "--season", "1h",
			"--horizon", "2m")
		if got := d.Models[0].Error == ""; got != knows {
			t.Errorf("%d minutes: holt-winters takes part: %v, want %v: %s", minutes, got, knows, d.Models[0].Error)
		}
		if noted := strings.Contains(strings.Join(d.Notes, "\n"),
			"seasons of 60 minutes, half of them"); noted == knows {
			t.Errorf("%d minutes: notes %q", minutes, d.Notes)
		}
	}
}

// A history of very many steps is asked every so many of them, which is told.
func TestFineHistory(t *testing.T) {
	d := backtest(t, csv(27_000, wave), "--model", "ses", "--season", "1h", "--horizon", "5m")
	want := []string{
		"forecasts are judged every 2 minutes",
		"\"forewarm simulate\" may still find Forewarm cheaper: it judges the outcome under " +
			"an HPA, where target, headroom and lead time count too, and backtest the error of the forecast window peak",
	}
	if diff := cmp.Diff(want, d.Notes); diff != "" {
		t.Errorf("notes (-want +got)\n%s", diff)
	}
	if n := d.Models[0].Horizons[0].Count; n < 10_000 || n > 10_200 { // Three quarters of them, every other one.
		t.Errorf("%d windows were judged", n)
	}
}

// Text has the same figures, and the run is the same every time however its models fall to the workers.
func TestSameEveryTime(t *testing.T) {
	args := []string{"--trace", "-", "--season", "1h", "--model", "holt-winters"}
	first, err := cli.BacktestRun(t.Context(), nil, csv(900, wave), args...)
	if err != nil {
		t.Fatal(err)
	}
	second, err := cli.BacktestRun(t.Context(), nil, csv(900, wave), args...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-first +second)\n%s", diff)
	}
	for _, want := range []string{"HORIZON MODEL", "holt-winters", "last-season (baseline)", "95 % quantile by holt-winters"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
}

// Interrupted half-way it tells what is known by then, marked, with the code of an interruption.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := 0
	bar := cmdline.NewProgressBar(
		io.Discard,
		false,
		func() time.Time { // The bar asks for the time at every stretch of a model.
			told++
			if told == 60 {
				cancel()
			}
			return time.Unix(0, 0)
		},
	)
	out, err := cli.BacktestRun(ctx, bar, csv(3000, wave), "--trace", "-", "--season", "1h", "--model", "ses")
	if err == nil || cmdline.ExitCode(err) != 130 || !strings.Contains(err.Error(), "interrupted: the figures are of") {
		t.Errorf("%v with code %d, want an interruption with its figures", err, cmdline.ExitCode(err))
	}
	for _, want := range []string{"HORIZON MODEL", "- interrupted: "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestInterruptionBeforeAnything(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := cli.BacktestRun(ctx, nil, bytes.NewReader(nil), "--trace", "-")
	if cmdline.ExitCode(err) != 130 || out != "" {
		t.Errorf("%q and %v, want nothing and an interruption", out, err)
	}
}
