package fleet_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

const (
	weekHours = 7 * 24
	// studied is the first hour in which a day ahead is computed: after the history that Forewarm keeps. recomputed is how often that is done,
	// and early how long before an hour its shortage must be foreseen, in hours. The first hour that counts is the first that can be foreseen.
	studied, recomputed, early = 15 * 24, 4, 20
	first                      = studied + early
)

const measured, dayAhead = "last week × the measured growth", "a fleet's day ahead"

// studiedFleet are members whose hourly demand grows by 3 % a week on top of what was recorded. Each has the same mean.
type studiedFleet struct {
	members []fleet.Member
	total   []float64
	// sorted are the hours of the total that count.
	sorted []float64
}

// fleetOf returns the fleet of recorded hours, which must have no gaps.
func fleetOf(tb testing.TB, recorded ...[]float64) *studiedFleet {
	tb.Helper()
	n := len(slices.MinFunc(recorded, func(a, b []float64) int { return len(a) - len(b) }))
	out := &studiedFleet{total: make([]float64, n)}
	for _, values := range recorded {
		m := hourly("member", now(), growing)
		m.MaxReplicas = 0
		m.Hours = forecast.Series{Start: now(), Step: time.Hour, Values: slices.Clone(values[:n])}
		for i := range m.Hours.Values {
			m.Hours.Values[i] *= math.Pow(1.03, float64(i)/weekHours)
		}
		if err := demandtest.Scale(m.Hours, 12); err != nil {
			tb.Fatal(err)
		}
		for i, v := range m.Hours.Values {
			out.total[i] += v
		}
		out.members = append(out.members, m)
	}
	out.sorted = slices.Sorted(slices.Values(out.total[first:]))
	return out
}

// sum returns what the members needed in some hours.
func (f *studiedFleet) sum(from, to int) (sum float64) {
	for _, v := range f.total[from:to] {
		sum += v
	}
	return sum
}

// rule forecasts the 24 hours from an origin.
type rule struct {
	name     string
	forecast func(f *studiedFleet, origin int) []float64
}

func rules(withForecasts bool) []rule {
	lastWeek := func(f *studiedFleet, origin int, growth float64) []float64 {
		out := slices.Clone(f.total[origin-weekHours : origin-weekHours+24])
		for i := range out {
			out[i] *= growth
		}
		return out
	}
	out := []rule{
		{measured, func(f *studiedFleet, at int) []float64 {
			return lastWeek(f, at, f.sum(at-weekHours, at)/f.sum(at-2*weekHours, at-weekHours))
		}},
		{"last week × 1.03", func(f *studiedFleet, at int) []float64 { return lastWeek(f, at, 1.03) }},
		{dayAhead, func(f *studiedFleet, at int) []float64 { return f.known(at).Day(hourOf(at)).Total }},
	}
	if withForecasts {
		out = append(out, rule{"sum of the members' forecasts", func(f *studiedFleet, at int) []float64 {
			sum := make([]float64, 24)
			for _, m := range f.known(at).Members {
				if fitted, err := (ensemble.Auto{Horizon: 24, Seasons: []int{24}}).Fit(m.Hours); err == nil {
					for i, v := range fitted.Forecast(24).Point {
						sum[i] += v
					}
				}
			}
			return sum
		}})
	}
	return out
}

func hourOf(i int) time.Time { return now().Add(time.Duration(i) * time.Hour) }

// known is the fleet with the history that Forewarm keeps.
func (f *studiedFleet) known(at int) *fleet.Fleet {
	out := &fleet.Fleet{Members: slices.Clone(f.members)}
	for i := range out.Members {
		out.Members[i].Hours = out.Members[i].Hours.Slice(at-studied, at)
	}
	return out
}

// announced are the forecasts of each hour: the one in time, and the highest of all.
type announced struct{ inTime, highest []float64 }

func (f *studiedFleet) play(r rule) announced {
	n := len(f.total)
	out := announced{make([]float64, n), make([]float64, n)}
	for at := studied; at < n; at += recomputed {
		for i, v := range r.forecast(f, at)[:min(24, n-at)] {
			if i >= early {
				out.inTime[at+i] = v
			}
			out.highest[at+i] = max(out.highest[at+i], v)
		}
	}
	return out
}

// result counts hours over capacity, those of them that were foreseen, and false alarms, in a number of weeks.
type result struct {
	events, hits, falseAlarms int
	weeks                     float64
}

func (r *result) add(o result) {
	r.events, r.hits, r.falseAlarms, r.weeks = r.events+o.events, r.hits+o.hits, r.falseAlarms+o.falseAlarms, r.weeks+o.weeks
}

func (r *result) found() float64 { return float64(r.hits) / float64(r.events) }

// score counts with the capacity that a share of the hours exceeds, if a rule's forecasts are multiplied by a factor. A false alarm is a
// time whose hours were announced, early or late, none of which was within an hour of an event.
func (f *studiedFleet) score(a announced, share, factor float64) result {
	capacity := f.sorted[int(float64(len(f.sorted))*(1-share))]
	out := result{weeks: float64(len(f.sorted)) / weekHours}
	near := func(values []float64, i int, factor float64) bool {
		around := values[max(i-1, first):min(i+2, len(values))]
		return slices.ContainsFunc(around, func(v float64) bool { return v*factor > capacity })
	}
	alarm, right := false, true
	for i := first; i < len(f.total); i++ {
		if f.total[i] > capacity {
			out.events++
			if near(a.inTime, i, factor) {
				out.hits++
			}
		}
		if now := a.highest[i]*factor > capacity; now {
			right = right && alarm || near(f.total, i, 1)
			alarm = true
		} else if alarm {
			if !right {
				out.falseAlarms++
			}
			alarm = false
		}
	}
	if alarm && !right {
		out.falseAlarms++
	}
	return out
}

// TestShortagesOfRecordedWeeks compares rules that foresee a shortage. Each rule gets one factor for all fleets of a set, with which it has
// one false alarm a week. The day ahead was chosen on the first set, and on others that are not here.
func TestShortagesOfRecordedWeeks(t *testing.T) {
	data := os.Getenv("FOREWARM_DATA")
	if data == "" {
		t.Skip("FOREWARM_DATA is unset: it names the folder with m4, outcome/workloads and traces")
	}
	chosen, held := m4Fleets(t, filepath.Join(data, "m4", "hourly_even_train.csv.gz"))
	for _, set := range []struct {
		name   string
		fleets []*studiedFleet
	}{
		{"M4, on which the rule was chosen", chosen},
		{"M4, held out", held},
		{"taxi, weeks 14 to 30", taxiFleet(t, data)},
		{"pools of an operator", poolFleets(t, data)},
	} {
		t.Logf("%s: %d fleets. Share of the hours over the capacity that are foreseen; "+
			"as it is, with false alarms a week", set.name, len(set.fleets))
		hits := map[string][]float64{}
		for _, r := range rules(os.Getenv("FOREWARM_BENCH") != "") {
			var text strings.Builder
			for i, result := range compare(set.fleets, r) {
				fmt.Fprintf(&text, "   %3.0f%%: %4.1f%% (%4.1f%%, %.2f)",
					100*shares()[i], 100*result[0], 100*result[1], result[2])
				hits[r.name] = append(hits[r.name], result[0])
			}
			t.Logf("%-32s%s", r.name, text.String())
		}
		for i, got := range hits[dayAhead] {
			if last := hits[measured][i]; got < last {
				t.Errorf("%s: %.3f of the hours are foreseen, %.3f by the same hour last week", set.name, got, last)
			}
		}
	}
}

// shares are the shares of hours over the capacity.
func shares() []float64 { return []float64{0.02, 0.05, 0.1} }

// compare returns for each of the shares which part of the hours is foreseen at one false alarm a week, and without a factor, and how many
// false alarms a week there are without a factor.
func compare(fleets []*studiedFleet, r rule) (out [][3]float64) {
	played := make([]announced, len(fleets))
	for i, f := range fleets {
		played[i] = f.play(r)
	}
	for _, share := range shares() {
		total := func(factor float64) (sum result) {
			for i, f := range fleets {
				sum.add(f.score(played[i], share, factor))
			}
			return sum
		}
		best := 0.0
		for factor := 0.6; factor < 1.3; factor += 0.004 {
			if now := total(factor); float64(now.falseAlarms) <= now.weeks {
				best = max(best, now.found())
			}
		}
		asItIs := total(1)
		out = append(out, [3]float64{best, asItIs.found(), float64(asItIs.falseAlarms) / asItIs.weeks})
	}
	return out
}

// m4Fleets returns fleets of three hourly series of M4 each. Neighbours in the file, which are of one kind, are in different fleets.
func m4Fleets(t *testing.T, path string) (even, odd []*studiedFleet) {
	t.Helper()
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // Read only.
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var long [][]float64
	for _, row := range rows[1:] {
		var values []float64
		for _, cell := range row[1:] {
			if v, err := strconv.ParseFloat(cell, 64); err == nil {
				values = append(values, v)
			}
		}
		if len(values) > 3*weekHours {
			long = append(long, values)
		}
	}
	for i, third := 0, len(long)/3; i < third; i++ {
		f := fleetOf(t, long[i], long[i+third], long[i+2*third])
		if i%2 == 0 {
			even = append(even, f)
		} else {
			odd = append(odd, f)
		}
	}
	return even, odd
}

func taxiFleet(t *testing.T, data string) []*studiedFleet {
	t.Helper()
	hours := recordedHours(t, filepath.Join(data, "traces", "nab_nyc_taxi.csv.gz"))
	return []*studiedFleet{fleetOf(t, hours[13*weekHours-studied:])}
}

// poolFleets returns fleets of one to three pools of the same weeks, and one of other weeks.
func poolFleets(t *testing.T, data string) (out []*studiedFleet) {
	t.Helper()
	hours := map[string][]float64{}
	for _, name := range []string{"06", "20", "28", "17"} {
		hours[name] = recordedHours(t, filepath.Join(data, "outcome", "workloads", "pool"+name+".csv.gz"))
	}
	for _, names := range [][]string{{"06"}, {"20"}, {"28"}, {"06", "20"}, {"06", "28"}, {"20", "28"}, {"06", "20", "28"}, {"17"}} {
		var members [][]float64
		for _, name := range names {
			members = append(members, hours[name])
		}
		out = append(out, fleetOf(t, members...))
	}
	return out
}

// recordedHours returns the means of the whole hours of a file. An hour without a sample has the mean of the hour before.
func recordedHours(t *testing.T, path string) []float64 {
	t.Helper()
	s, err := trace.ReadFile(path, "")
	if err != nil {
		t.Fatal(err)
	}
	start := s.Start.Truncate(time.Hour)
	sums, counts := make([]float64, s.End().Sub(start)/time.Hour+1), make([]float64, s.End().Sub(start)/time.Hour+1)
	for i, v := range s.Values {
		if hour := s.TimeAt(i).Sub(start) / time.Hour; !math.IsNaN(v) {
			sums[hour] += v
			counts[hour]++
		}
	}
	out := sums[1 : len(sums)-1]
	for i := range out {
		if n := counts[i+1]; n > 0 {
			out[i] /= n
		} else if i > 0 {
			out[i] = out[i-1]
		}
	}
	return out
}
