package demand_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// traces are all columns of the recorded demand, by name.
func traces(t *testing.T) map[string]forecast.Series {
	t.Helper()
	data := os.Getenv("FOREWARM_DATA")
	if data == "" {
		t.Skip("FOREWARM_DATA is unset: it names the folder with traces and outcome/series_15s")
	}
	out := map[string]forecast.Series{}
	for _, folder := range []string{"traces", "outcome/series_15s"} {
		files, err := filepath.Glob(filepath.Join(data, folder, "*.csv.gz"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no traces in %s: %v", filepath.Join(data, folder), err)
		}
		for _, file := range files {
			columns, err := trace.FileColumns(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, column := range columns {
				if out[filepath.Base(file)+" "+column], err = trace.ReadFile(file, column); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return out
}

// Recorded demand far below capacity is known, except for possible outages of the recorded service.
func TestRecordedDemandIsKnown(t *testing.T) {
	for name, s := range traces(t) {
		peak := slices.MaxFunc(s.Values, cmp.Compare)
		n := map[demand.Cause]int{}
		for _, cause := range causes(s.Step, 1.5*peak, s.Values...) {
			n[cause]++
		}
		tight := count(causes(s.Step, percentile(s.Values, 0.9), s.Values...),
			demand.AtCapacity)
		share := func(k int) float64 { return 100 * float64(k) / float64(len(s.Values)) }
		t.Logf(
			"%-75s %7d of %4s: missing %.3f %%, outage %.3f %%, at 1.5 x peak %.3f %%; at its 0.9 quantile %.2f %%",
			name,
			len(s.Values),
			s.Step,
			share(n[demand.Missing]),
			share(n[demand.Outage]),
			share(n[demand.AtCapacity]),
			share(tight),
		)
		// ServeGen's small model was down twelve times in these two weeks, for ten to seventy minutes.
		most := 0.1
		if strings.HasPrefix(name, "servegen_m-small") || strings.HasPrefix(name, "sg_small") {
			most = 2
		}
		if n[demand.AtCapacity] > 0 || share(n[demand.Outage]) > most {
			t.Errorf("%s: %v", name, n)
		}
	}
}

func percentile(values []float64, p float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted) // NaN first.
	return sorted[int(p*float64(len(sorted)-1))]
}

// An outage of four minutes at any time of a recorded demand is masked wherever the demand is not near zero by itself.
func TestOutagesInRecordedDemandAreMasked(t *testing.T) {
	for name, s := range traces(t) {
		steps := 240 / int(s.Step.Seconds())
		first := int(36*3600/s.Step.Seconds()) + 1
		if steps < 1 || first+steps >= len(s.Values) {
			continue // Steps are too long, or the trace is shorter than a day and a half.
		}
		seen, all := 0, 0
		for i := range 20 {
			from := first + i*(len(s.Values)-first-steps)/20
			load := slices.Clone(s.Values[:from+steps])
			for j := from; j < from+steps; j++ {
				load[j] = 0
			}
			seen += count(causes(s.Step, 0, load...)[from:], demand.Outage)
			all += steps
		}
		t.Logf("%-75s %3d %% of 20 outages of 4 min masked", name, 100*seen/all)
	}
}

// BenchmarkClassifier classifies two weeks of 30-s steps.
func BenchmarkClassifier(b *testing.B) {
	readings := variedReadings(1, 14*day)
	b.ReportAllocs()
	i, classifier := 0, demand.NewClassifier(classifyStep, 180)
	for b.Loop() {
		classifier.Step(readings[i])
		i = (i + 1) % len(readings)
	}
}
