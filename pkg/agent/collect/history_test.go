package collect_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/agent/collect"
)

func series(name string) collect.Series {
	return collect.Series{Measure: collect.PodBusy, UUID: "GPU-1", Namespace: "inference", Pod: name, Container: "c"}
}

// step is the start of the i-th step after noon.
func step(i int) time.Time { return noon.Add(time.Duration(i) * collect.HistoryStep) }

func means(hour collect.Hour, s collect.Series) ([]float32, time.Time) {
	for _, l := range hour.Lines {
		if l.Series == s {
			return l.Means, l.End(0)
		}
	}
	return nil, time.Time{}
}

// wantMeans holds a series' means against those wanted; NaN is a step without a reading.
func wantMeans(t *testing.T, why string, hour collect.Hour, s collect.Series, want ...float32) {
	t.Helper()
	if got, _ := means(hour, s); !cmp.Equal(got, want, cmpopts.EquateApprox(0, 1e-6), cmpopts.EquateNaNs()) {
		t.Errorf("%s: %v, want %v", why, got, want)
	}
}

var nan = float32(math.NaN())

func TestAPointIsTheMeanOfItsStep(t *testing.T) {
	r := collect.NewRecorder(collect.Hour{})
	s := series("a")
	for i, value := range []float64{0.2, 0.3, 0.4, 0.9, 0.9, 0.9, 1} {
		r.Add(noon.Add(time.Duration(5*i)*time.Second), s, value)
	}
	r.Add(noon.Add(70*time.Second), s, 0.5) // the step at 45 s has no reading
	hour := r.Hour(noon.Add(70 * time.Second))
	wantMeans(t, "at 70 s", hour, s, 0.3, 0.9, 1)
	if _, end := means(hour, s); !end.Equal(step(1)) {
		t.Errorf("the first at %v, want 12:00:15", end)
	}
	wantMeans(t, "at 75 s", r.Hour(step(5)), s, 0.3, 0.9, 1, nan, 0.5)
}

func TestAnHourIsKeptAndNoMore(t *testing.T) {
	r := collect.NewRecorder(collect.Hour{})
	for i := range 1000 {
		r.Add(step(i), series("a"), float64(i)/1000)
	}
	r.Add(noon, series("over"), 0.5)
	now := step(1000)
	got, end := means(r.Hour(now), series("a"))
	if len(got) != 240 || !end.Equal(now.Add(-time.Hour+collect.HistoryStep)) {
		t.Errorf("%d points from %v, want 240 from an hour before %v", len(got), end, now)
	}
	if got, _ = means(r.Hour(now), series("over")); got != nil {
		t.Errorf("what ended hours ago is kept: %v", got)
	}
	if left := len(r.Hour(now.Add(2 * time.Hour)).Lines); left != 0 {
		t.Errorf("%d series after two hours of nothing", left)
	}
}

func TestPodsThatComeAndGoAreBounded(t *testing.T) {
	r := collect.NewRecorder(collect.Hour{})
	for i := range collect.MaxSeries + 100 {
		r.Add(noon.Add(time.Duration(i)*time.Millisecond), series(strconv.Itoa(i)), 0.5)
	}
	r.Add(step(1), series("0"), 0.5)
	r.Hour(step(2))
	hour := r.Hour(step(2))
	if len(hour.Lines) != collect.MaxSeries {
		t.Errorf("%d series, want %d", len(hour.Lines), collect.MaxSeries)
	}
	if got, _ := means(hour, series("0")); got == nil {
		t.Error("a series that goes on was dropped for one that ended")
	}
}

func TestAClockThatIsSetBack(t *testing.T) {
	r := collect.NewRecorder(collect.Hour{})
	s := series("a")
	r.Add(noon.Add(3*time.Hour), s, 0.5)
	r.Add(noon.Add(2*time.Hour+59*time.Minute), s, 0.6) // by a minute: dropped
	r.Add(noon, s, 0.7)                                 // by hours: from scratch
	r.Add(step(1), s, 0.8)
	wantMeans(t, "from scratch", r.Hour(step(2)), s, 0.7, 0.8)
}

func recorded() collect.Hour {
	r := collect.NewRecorder(collect.Hour{})
	for i := range 8 {
		if i != 5 {
			r.Add(step(i), series("a"), float64(i)/10)
		}
		r.Add(step(i),
			collect.Series{Measure: collect.Tensor, UUID: "GPU-1", Instance: "9"}, 1)
	}
	return r.Hour(step(8))
}

func TestARestartGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hour")
	if hour, err := collect.LoadHour(path); err != nil || len(hour.Lines) != 0 {
		t.Fatalf("without a file: %v, %v", hour, err)
	}
	want := recorded()
	for range 2 {
		if err := collect.SaveHour(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := collect.LoadHour(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-saved +loaded):\n%s", diff)
	}
	// What a crash left behind is in no one's way.
	if err := os.WriteFile(path+".new", bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := collect.SaveHour(path, want); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	r := collect.NewRecorder(got)
	r.Add(step(7).Add(10*time.Second), series("a"), 0.1) // within the step of the last point
	r.Add(step(9), series("a"), 0.9)
	wantMeans(t, "after the restart", r.Hour(step(10)), series("a"), 0, 0.1, 0.2, 0.3, 0.4, nan, 0.6, 0.7, nan, 0.9)
}

func TestADamagedFileIsSaid(t *testing.T) {
	whole := encoded(t, recorded())
	for name, text := range map[string]string{
		"empty":     "",
		"cut off":   whole[:len(whole)-9],
		"one bit":   strings.Replace(whole, "inference", "inferencf", 1),
		"unknown":   "PNG\n",
		"later":     strings.Replace(whole, "hour 1", "hour 2", 1),
		"not there": strings.Repeat("x", 17<<20),
	} {
		path := filepath.Join(t.TempDir(), "hour")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		hour, err := collect.LoadHour(path)
		if !errors.Is(err, collect.ErrFormat) || len(hour.Lines) != 0 || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %d series, %v, want an error that names the file", name, len(hour.Lines), err)
		}
	}
	folder := filepath.Join(t.TempDir(), "no", "hour")
	if err := collect.SaveHour(folder, recorded()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func encoded(tb testing.TB, hour collect.Hour) string {
	tb.Helper()
	var out strings.Builder
	if err := collect.Encode(&out, hour); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// FuzzDecode: whatever a file holds, it is an error or an hour that can be gone on with, and what was decoded is encoded the
// same.
func FuzzDecode(f *testing.F) {
	_, body, _ := strings.Cut(encoded(f, recorded()), "\n")
	f.Add(body)
	f.Add(`{"step":15000000000,"lines":[{"Measure":"busy","first":9223372036854775807,"means":"AAAAAA=="}]}`)
	f.Add(
		`{"step":15000000000,"lines":[{"Measure":"busy","first":1,"means":"AAAAAA=="},{"Measure":"busy","first":1,"means":"AA=="}]}`,
	)
	f.Fuzz(func(t *testing.T, body string) {
		hour, err := collect.Decode(strings.NewReader(collect.Titled(body)))
		if err != nil {
			if !errors.Is(err, collect.ErrFormat) {
				t.Errorf("%v", err)
			}
			return
		}
		r := collect.NewRecorder(hour)
		for _, l := range hour.Lines {
			r.Add(noon, l.Series, 0.5)
		}
		r.Hour(noon.Add(time.Minute))
		second, err := collect.Decode(strings.NewReader(encoded(t, hour)))
		if err != nil || !cmp.Equal(hour, second, cmpopts.EquateNaNs()) {
			t.Errorf("%v: %s", err, cmp.Diff(hour, second, cmpopts.EquateNaNs()))
		}
	})
}
