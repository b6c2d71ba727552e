package embedded_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// writer writes as a scrape does: series by the references that the storage gave, one commit for every step.
type writer struct {
	refs map[string]storage.SeriesRef
	// stored is the number of series by the step that was stored.
	stored map[int]int
}

func newWriter() *writer {
	return &writer{refs: map[string]storage.SeriesRef{}, stored: map[int]int{}}
}

// name of a series that says which it is where it is read.
func name(i int) labels.Labels {
	return labels.FromStrings("__name__", "x", "n", strconv.Itoa(i), "padding", strings.Repeat("p", 50))
}

// write writes the series from first to end at a step, each with its own number as its value. It tells whether they are
// stored.
func (w *writer) write(t *testing.T, e *embedded.Engine, step, first, end int) bool {
	t.Helper()
	a := e.Appender(t.Context())
	at := origin.Add(time.Duration(step) * 15 * time.Second).UnixMilli()
	for i := first; i < end; i++ {
		l := name(i)
		ref, err := a.Append(w.refs[l.Get("n")], l, 0, at, float64(i), nil, nil, storage.AppendV2Options{})
		if err != nil {
			t.Fatalf("step %d, series %d: %v", step, i, err)
		}
		if ref != 0 {
			w.refs[l.Get("n")] = ref
		}
	}
	if err := a.Commit(); err != nil || e.StorageError() != nil {
		return false
	}
	w.stored[step] = end - first
	return true
}

// read checks that every sample which was stored is there, and that each series has its own values only.
func (w *writer) read(t *testing.T, e *embedded.Engine) {
	t.Helper()
	last := 0
	for step := range w.stored {
		last = max(last, step)
	}
	there := fetch(t, e, queryOver("count(x)", last+1, 15*time.Second))
	for step, n := range w.stored {
		if !(there[step] >= float64(n)) {
			t.Errorf("step %d: %v series, %d were stored", step, there[step], n)
		}
	}
	for n := range w.refs {
		if i, err := strconv.Atoi(n); err != nil || i%7 > 0 && i < 9000 { // A part of them, for time.
			continue
		}
		got, err := e.Fetch(t.Context(), queryOver(`sum(x{n="`+n+`"})`, last+1, 15*time.Second))
		if err != nil && !errors.Is(err, series.ErrNoSeries) {
			t.Fatal(err)
		}
		for step, v := range got.Values {
			if strconv.FormatFloat(v, 'f', -1, 64) != n && !math.IsNaN(v) {
				t.Fatalf("series %s has %v at step %d, which is another's", n, v, step)
			}
		}
	}
}

// killedEngine is what a kill leaves of a directory: a copy of it as it is.
func killedEngine(t *testing.T, dir string) (left string) {
	t.Helper()
	left = t.TempDir()
	must(t, os.CopyFS(left, os.DirFS(dir)))
	return left
}

func start(t *testing.T, dir string, reserve int64) (*embedded.Engine, *processtest.LogBuffer) {
	t.Helper()
	log := &processtest.LogBuffer{}
	e, err := embedded.Open(embedded.Config{Dir: dir, Lookback: 15 * time.Second}.WithReserve(reserve),
		slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatalf("%v, log:\n%s", err, log)
	}
	closeAfter(t, e)
	return e, log
}

// smallDisk is a directory on a disk of its own.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small disk cannot be mounted here (%v): run this test as root", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes the disk of a directory but for some bytes.
func fill(t *testing.T, dir string, left int64) (empty func()) {
	t.Helper()
	var disk syscall.Statfs_t
	must(t, syscall.Statfs(dir, &disk))
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(disk.Bavail)*disk.Bsize - left; n > 0 {
		must(t, syscall.Fallocate(int(f.Fd()), 0, 0, n))
	}
	must(t, f.Close())
	return func() {
		must(t, os.Remove(path))
	}
}

const mib = 1 << 20

// While less than the reserve is free no sample is stored and everybody says so; when there is room again, they are.
func TestDiskFillsAndEmpties(t *testing.T) {
	dir := smallDisk(t, "32m")
	data := filepath.Join(dir, "data")
	e, log := start(t, data, 8*mib)
	w := newWriter()
	if !w.write(t, e, 0, 0, 200) {
		t.Fatal("the disk is not full yet")
	}
	empty := fill(t, dir, 4*mib)
	if w.write(t, e, 1, 0, 250) {
		t.Error("a sample is stored on the reserve")
	}
	_, err := e.Fetch(t.Context(), queryOver("count(x)", 2, 15*time.Second))
	if !errors.Is(err, series.ErrUnavailable) ||
		!strings.Contains(err.Error(), "is full: 4.0 MiB free, but 8.0 MiB are needed") {
		t.Errorf("error %v, want that the disk is full", err)
	}
	if err := testutil.CollectAndCompare(e, strings.NewReader(`
# HELP forewarm_storage_free_bytes Free space on the disk that has the data of the embedded engine.
# TYPE forewarm_storage_free_bytes gauge
forewarm_storage_free_bytes 4.194304e+06
# HELP forewarm_storage_full 1 while the embedded engine stores no samples because its disk is full or not writable, otherwise 0.
# TYPE forewarm_storage_full gauge
forewarm_storage_full 1
`)); err != nil {
		t.Error(err)
	}
	empty()
	if !w.write(t, e, 2, 0, 250) {
		t.Errorf("there is room again, and still %v", e.StorageError())
	}
	w.read(t, e)
	if text := log.String(); strings.Count(text, "samples are not stored") != 1 ||
		strings.Count(text, "samples are stored again") != 1 {
		t.Errorf("want one line for each change:\n%s", text)
	}
}

// A write that fails half-way costs nothing that is stored before or after, now or after a kill.
func TestWriteFails(t *testing.T) {
	for name, c := range map[string]struct {
		disk func(t *testing.T) string
		full func(t *testing.T, dir string) (empty func())
	}{
		"the disk is full": {
			disk: func(t *testing.T) string { t.Helper(); return smallDisk(t, "16m") },
			full: func(t *testing.T, dir string) func() { t.Helper(); return fill(t, dir, 36*1024) },
		},
		"files may not grow": {
			disk: func(t *testing.T) string { t.Helper(); return t.TempDir() },
			full: func(t *testing.T, dir string) func() { t.Helper(); return noGrowth(t, dir) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.disk(t)
			data := filepath.Join(dir, "data")
			e, _ := start(t, data, 1)
			w := newWriter()
			for step := range 10 {
				w.write(t, e, step, 0, 300)
			}
			empty := c.full(t, dir)
			for step := 10; step < 20; step++ { // New series, too: of more than a page of the log.
				w.write(t, e, step, 0, 5000)
			}
			if e.StorageError() == nil {
				t.Error("a write failed, and samples are said to be stored")
			}
			empty()
			e.Reopen()
			w.write(t, e, 20, 9000, 9100) // They get the numbers of those that were made in vain.
			for step := 21; step < 30; step++ {
				if !w.write(t, e, step, 0, 400) {
					t.Fatalf("step %d: there is room, and %v", step, e.StorageError())
				}
			}
			after, _ := start(t, killedEngine(t, data), 1)
			w.read(t, after)
			w.read(t, e)
		})
	}
}

// The storage panics where it cannot write chunks; the samples are in the log, and the process goes on.
func TestChunksCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	e, _ := start(t, filepath.Join(dir, "data"), 1)
	w := newWriter()
	for step := range 130 { // More than a chunk holds.
		w.write(t, e, step, 0, 8)
	}
	lift := noGrowth(t, dir)
	e.KeepUp()
	if e.StorageError() == nil {
		t.Error("chunks could not be written, and samples are said to be stored")
	}
	lift()
	e.Reopen()
	if !w.write(t, e, 130, 0, 8) {
		t.Errorf("there is room: %v", e.StorageError())
	}
	e.KeepUp()
	w.read(t, e)
	after, _ := start(t, killedEngine(t, e.Dir()), 1)
	w.read(t, after)
}

// noGrowth keeps files of this process from growing beyond the log's present size.
func noGrowth(t *testing.T, dir string) (lift func()) {
	t.Helper()
	var size int64
	err := filepath.WalkDir(filepath.Join(dir, "data", "wal"), func(_ string, f fs.DirEntry, err error) error {
		if err == nil && !f.IsDir() {
			found, failed := f.Info()
			if failed != nil {
				return failed
			}
			size = max(size, found.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	limit := was
	limit.Cur = uint64(size) + 36*1024
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	lift = func() {
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
	}
	t.Cleanup(lift)
	return lift
}

// A start on a full disk changes nothing, says so, and goes on when there is room.
func TestStartOnFullDisk(t *testing.T) {
	dir := smallDisk(t, "32m")
	data := filepath.Join(dir, "data")
	e, _ := start(t, data, 8*mib)
	w := newWriter()
	for step := range 10 {
		w.write(t, e, step, 0, 300)
	}
	left := filepath.Join(dir, "left")
	must(t, os.CopyFS(left, os.DirFS(data)))
	tearSegment(t, filepath.Join(left, "wal", "00000000"))
	before := content(t, left)
	empty := fill(t, dir, 0)
	for range 2 { // Twice: a kill between.
		full, log := start(t, left, 8*mib)
		if full.StorageError() == nil || !strings.Contains(log.String(), "is full") {
			t.Errorf("the disk is full: %v, log:\n%s", full.StorageError(), log)
		}
		full.Reopen()
		if newWriter().write(t, full, 10, 0, 1) {
			t.Error("a sample is stored on a full disk")
		}
		if got := content(t, left); got != before {
			t.Errorf("the start on a full disk changed\n%s\nto\n%s", before, got)
		}
		if err := full.Close(); err != nil {
			t.Error(err)
		}
	}
	full, log := start(t, left, 8*mib)
	empty()
	full.Reopen()
	if err := full.StorageError(); err != nil {
		t.Errorf("there is room: %v", err)
	}
	w.read(t, full)
	if !strings.Contains(log.String(), "repaired") {
		t.Errorf("the log does not say that it was repaired:\n%s", log)
	}
}

// tearSegment leaves half a record at the end of a segment.
func tearSegment(t *testing.T, segment string) {
	t.Helper()
	f, err := os.OpenFile(segment, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte{0x09, 0x40, 0x00, 1, 2, 3, 4, 5, 6, 7}); err != nil {
		t.Fatal(err)
	}
	must(t, f.Close())
}

// content is a directory's files, each with its size and a sum.
func content(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() || path == "lock" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		fmt.Fprintf(&out, "%s %d %x\n", path, len(text), sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
