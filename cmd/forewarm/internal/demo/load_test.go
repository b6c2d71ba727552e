package demo //nolint:testpackage // As above.

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "load.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The demo's own loads begin before what they show: the mean of the quarter of an hour around it is at least so much higher.
func TestOwnLoadsRiseSoonAfterTheBegin(t *testing.T) {
	for _, own := range ownLoads() {
		l, err := own.open()
		if err != nil {
			t.Fatal(err)
		}
		if in := l.rise.Sub(l.begin(60)); in < 20*time.Minute || in > 30*time.Minute {
			t.Errorf("%s rises %v after the begin, want less than half a minute of life", own.name, in)
		}
		mean := func(from time.Time, over time.Duration) float64 {
			sum := 0.0
			values := l.sampled(from, from.Add(over), time.Minute).Values
			for _, v := range values {
				sum += v
			}
			return sum / float64(len(values))
		}
		least := map[string]float64{"office": 2, "calm": 1.05, "wild": 1.7}[own.name]
		before, after := mean(l.begin(60), l.rise.Sub(l.begin(60))), mean(l.rise.Add(5*time.Minute), 20*time.Minute)
		if after < least*before || before < 10 || after > 200 {
			t.Errorf("%s goes from %.0f to %.0f requests per second, want at least %v times as many", own.name,
				before, after, least)
		}
	}
}

func TestAUsersTrace(t *testing.T) {
	var counted strings.Builder
	counted.WriteString("t,load\n")
	for i := range 100 {
		fmt.Fprintf(&counted, "%d,5\n", i)
	}
	l, err := newLoad(t.Context(), &Config{Trace: write(t, counted.String())}, noon)
	if err != nil {
		t.Fatal(err)
	}
	const want = "load.csv, column load: 100 s in steps of 1 s"
	if l.about[0] != want || !strings.Contains(l.about[1], "assumes that a replica sustains 0.5, a tenth") ||
		l.target != 0.5 {
		t.Errorf("%q with a target of %v, want %q", l.about, l.target, want)
	}
	if age := noon.Sub(l.Start); age < 0 || age > 2*day {
		t.Errorf("times that count from 0 begin at %v", l.Start)
	}
	if past := l.begin(60).Sub(l.Start); past != 25*time.Second {
		t.Errorf("%v of 100 s are past, want a quarter", past)
	}
	var dated strings.Builder
	dated.WriteString("t,load\n")
	for i := range 100 {
		dated.WriteString(noon.Add(time.Duration(i-100)*time.Hour).Format(time.RFC3339) + ",7\n")
	}
	l, err = newLoad(t.Context(), &Config{Trace: write(t, dated.String()), Target: 3}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Start.Equal(noon.Add(-100*time.Hour)) || l.target != 3 || len(l.about) != 1 {
		t.Errorf("%q starts at %v with a target of %v, want its own time and the user's target", l.about, l.Start,
			l.target)
	}
}

// resolve reads an object as the server does.
func resolve(t *testing.T, text string) refresh.Job {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "forecast.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	resolver := manifest.NewResolver(catalogue.Signals{Label: "namespace", Trust: signal.DefaultTrust()})
	read, err := manifest.OpenFolder(dir, resolver, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	targets := read.List(time.Now())
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
			l := &load{playback: play(t, ramp(c.n, c.step)), name: "trace", target: sustained, lead: 6 * time.Minute}
			target := resolve(t, l.manifest(l.TimeAt(c.n*9/10)))
			if target.Step != c.wantStep || target.History != c.wantReach {
				t.Errorf("%s: step %v over %v, want %v over %v", c.name, target.Step, target.History, c.wantStep,
					c.wantReach)
			}
			if p := target.Settings; target.Key.String() != "demo/trace" || !p.ByHeadroom() || p.Target != sustained ||
				p.Late != 0.01 || target.Lead != 6*time.Minute {
				t.Errorf("a replica sustains %v: %s has %+v", sustained, target.Key, p)
			}
		}
	}
}

// A lead time that a Forecast in the trace's steps cannot have is refused before anything starts.
func TestALeadTimeShorterThanAStep(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("t,load\n")
	for i := range 100 {
		fmt.Fprintf(&csv, "%d,%d\n", 1_760_000_000/300*300+300*i, 100+i%7)
	}
	for lead, want := range map[time.Duration]string{
		time.Minute: "--lead-time 1m is too short for steps of 5m: write 5m or more", 4 * time.Minute: "", 0: "",
	} {
		o := Config{Trace: "-", Stdin: strings.NewReader(csv.String()), LeadTime: lead}
		l, err := newLoad(t.Context(), &o, time.Now())
		if want == "" && (err != nil || l.lead != cmp.Or(lead, DefaultLeadTime)) ||
			want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %+v, %v; want %q", lead, l, err, want)
		}
	}
}
