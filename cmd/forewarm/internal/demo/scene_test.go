package demo //nolint:testpackage // What the demo plays is nobody else's.

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "load.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rows are n rows, T standing for the number of each.
func rows(header string, n int, row string) string {
	lines := []string{header}
	for i := range n {
		lines = append(lines, strings.ReplaceAll(row, "T", strconv.Itoa(i)))
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestOwnSceneHasBothWorkloads(t *testing.T) {
	s, err := ownScene(noon)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range s.metrics {
		names = append(names, m.name)
	}
	want := []string{"http_requests_total", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "kube_pod_owner", "kube_replicaset_owner"}
	if !slices.Equal(names, want) {
		t.Errorf("series %v, want %v", names, want)
	}
	if reach := noon.Sub(s.from); reach < 12*day || reach > 13*day || s.backfill != 30*time.Second ||
		s.interval != 15*time.Second {
		t.Errorf(
			"%v of the past every %v, scraped every %v, want 12.6 days, 30s and 15s",
			reach,
			s.backfill,
			s.interval,
		)
	}
}

func TestAUsersTrace(t *testing.T) {
	s, err := userScene(t.Context(), Options{Trace: write(t, rows("t,load", 100, "T,5"))}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if s.interval != time.Second || s.backfill != time.Second || noon.Sub(s.from) != 90*time.Second {
		t.Errorf("the scene goes back to %v every %v and %v, want 90 s every second", s.from, s.backfill, s.interval)
	}
	const want = "load.csv, column load: 1m40s in steps of 1s, 1m30s of them in the past"
	if s.loaded[0] != want {
		t.Errorf("loaded %q, want %q", s.loaded[0], want)
	}
}

func TestATraceLongerThanAnyHistoryIsCutOff(t *testing.T) {
	var s scene
	if _, err := s.addTrace("year", ramp(365*24, time.Hour), noon); err != nil {
		t.Fatal(err)
	}
	if got := noon.Sub(s.from); got != 14*day {
		t.Errorf("the past goes back %v, want 14 days", got)
	}
}

func TestTracesWithProblems(t *testing.T) {
	for _, c := range []struct{ name, text, column, want string }{
		{"several columns", rows("t,a,b", 100, "T,5,6"), "", "choose one with --column: a, b"},
		{"a column that is not there", rows("t,a,b", 100, "T,5,6"), "c", `no column "c"`},
		{"too short", rows("t,a", 20, "T,5"), "a", "want 60"},
		{"negative", rows("t,a", 100, "T,-5"), "a", "cannot be negative"},
		{"empty", "", "", "empty"},
	} {
		if _, err := userScene(t.Context(), Options{Trace: write(t, c.text), Column: c.column}, noon); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	_, err := userScene(t.Context(), Options{Trace: filepath.Join(t.TempDir(), "none.csv")}, noon)
	if err == nil || !strings.Contains(err.Error(), "none.csv") {
		t.Errorf("a file that is not there: error %v, want one that names it", err)
	}
}
