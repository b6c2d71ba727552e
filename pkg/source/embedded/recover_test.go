package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/tsdb"
)

// The storage's own repair of segment 1, step by step, killed behind each; and starts since of a version that did not put
// segments back.
func TestRepairCutShort(t *testing.T) {
	for name, c := range map[string]struct {
		state func(t *testing.T, dir string, w *writer)
		says  string
	}{
		"a write was cut short": {
			state: func(*testing.T, string, *writer) {},
			says:  "cutting off the unreadable end of a segment",
		},
		"later segments are deleted in part": {
			state: func(t *testing.T, dir string, _ *writer) { t.Helper(); write(t, segment(dir, "00000003"), "") },
			says:  "the next segment was renumbered",
		},
		"the segment is put aside": {
			state: func(t *testing.T, dir string, _ *writer) { t.Helper(); putAside(t, dir) },
			says:  "was restored",
		},
		"its successor is made": {
			state: func(t *testing.T, dir string, _ *writer) {
				t.Helper()
				putAside(t, dir)
				write(t, segment(dir, "00000001"), "")
			},
			says: "was restored",
		},
		"its successor is written in part": {
			state: func(t *testing.T, dir string, _ *writer) { t.Helper(); copied(t, dir, 2) },
			says:  "was restored",
		},
		"its successor is written": {
			state: func(t *testing.T, dir string, _ *writer) { t.Helper(); copied(t, dir, 1) },
			says:  "was restored",
		},
		"started twice on a full disk": {
			state: func(t *testing.T, dir string, _ *writer) {
				t.Helper()
				putAside(t, dir)
				for _, empty := range []string{"00000001", "00000002", "00000003"} {
					write(t, segment(dir, empty), "")
				}
			},
			says: "was restored",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, w := torn(t)
			c.state(t, dir, w)
			e, log := start(t, dir, 1)
			if !strings.Contains(log.String(), c.says) || strings.Contains(log.String(), "attempting repair") {
				t.Errorf("want that the start says %q, and that the storage has nothing to repair:\n%s", c.says, log)
			}
			w.read(t, e)
			e, log = start(t, killedEngine(t, dir), 1)
			w.read(t, e)
			if strings.Contains(log.String(), "repair") {
				t.Errorf("the next start repairs, too:\n%s", log)
			}
		})
	}
}

// Where the log has been written since, what was put aside cannot be read with it: it becomes a block.
func TestRepairCutShortAndGoneOn(t *testing.T) {
	dir, w := torn(t)
	putAside(t, dir)
	write(t, segment(dir, "00000001"), "")
	without(t, dir, w, 20, 70)
	kept, err := os.ReadFile(segment(dir, "00000001.repair"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e, log := start(t, dir, 1)
		w.read(t, e)
		if _, err := os.Stat(segment(dir, "00000001.repair")); err == nil ||
			strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("%v: want the file gone:\n%s", err, log)
		}
		dir = killedEngine(t, dir)
		// The second start is after a kill when the block was there and the segment was not deleted yet.
		write(t, segment(dir, "00000001.repair"), string(kept))
		must(t, os.MkdirAll(filepath.Join(dir, "rescue", "wal"), 0o700))
	}
}

// torn is a directory with 50 series in segment 0, 60 in segment 1, and half a record behind them.
func torn(t *testing.T) (string, *writer) {
	t.Helper()
	w := newWriter()
	e, _ := start(t, t.TempDir(), 1)
	for step := range 10 {
		w.write(t, e, step, 0, 50)
	}
	dir := killedEngine(t, e.Dir())
	e, _ = start(t, dir, 1)
	w.refs = newWriter().refs
	for step := 10; step < 20; step++ {
		w.write(t, e, step, 0, 60)
	}
	dir = killedEngine(t, dir)
	tearSegment(t, segment(dir, "00000001"))
	return dir, w
}

func segment(dir, name string) string { return filepath.Join(dir, "wal", name) }

func putAside(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Rename(segment(dir, "00000001"), segment(dir, "00000001.repair")))
}

// copied is the segment put aside, and a part of it written again.
func copied(t *testing.T, dir string, part int) {
	t.Helper()
	putAside(t, dir)
	text, err := os.ReadFile(segment(dir, "00000001.repair"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, segment(dir, "00000001"), string(text[:len(text)/part]))
}

// without writes ten steps as a version did that knew nothing of segments put aside, and is killed.
func without(t *testing.T, dir string, w *writer, first, end int) {
	t.Helper()
	scratch := killedEngine(t, dir)
	db, err := tsdb.Open(scratch, discard(), nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for step := 20; step < 30; step++ {
		a := db.Appender(t.Context())
		for i := end - 1; i >= first; i-- { // In another order: they get other numbers.
			if _, err := a.Append(0, name(i), origin.Add(time.Duration(step)*15*time.Second).UnixMilli(),
				float64(i)); err != nil {
				t.Fatal(err)
			}
			w.refs[name(i).Get("n")] = 0
		}
		must(t, a.Commit())
		w.stored[step] = end - first
	}
	left := killedEngine(t, scratch)
	must(t, db.Close())
	must(t, os.RemoveAll(dir))
	must(t, os.CopyFS(dir, os.DirFS(left)))
}
