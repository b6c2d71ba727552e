package serve //nolint:testpackage // The server without the command line, on a port of its own.

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A start on a full disk, room, a disk that fills while it runs, and room again: /readyz, a metric and the Forecast's
// condition say so each time, without a restart.
func TestFullDisk(t *testing.T) {
	o := options(t)
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=100m"); err != nil {
		t.Skipf("a small disk cannot be mounted here (%v): run this test as root", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	o.DataDir = filepath.Join(disk, "data")
	filler := filepath.Join(disk, "filler")
	fill(t, filler, 95<<20)
	address, stop := serve(t, o)
	defer stop()
	says(t, address, true)
	for range 2 {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		says(t, address, false)
		fill(t, filler, 60<<20)
		says(t, address, true)
	}
}

func fill(t *testing.T, path string, bytes int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Fallocate(int(f.Fd()), 0, 0, bytes); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// says waits until everybody says whether the disk is full.
func says(t *testing.T, address string, full bool) {
	t.Helper()
	ready, metric, condition := http.StatusOK, "forewarm_storage_full 0", "the source answered the newest query"
	if full {
		ready, metric, condition = http.StatusServiceUnavailable, "forewarm_storage_full 1", "is full: "
	}
	eventually(t, func() string {
		code, body := get(t, address+"/readyz")
		if code != ready || strings.Contains(body, "[-]storage failed: the disk of ") != full {
			return fmt.Sprintf("full %v: /readyz answers %d: %s", full, code, body)
		}
		if _, body = get(t, address+"/metrics"); !strings.Contains(body, metric+"\n") {
			return fmt.Sprintf("full %v: /metrics has no %q", full, metric)
		}
		_, body = get(t, address+"/apis/inspect.forewarm.dev/v1alpha1/namespaces/team/outlooks/load")
		if !strings.Contains(body, condition) {
			return fmt.Sprintf("full %v: want %q in the outlook: %s", full, condition, body)
		}
		return ""
	})
}
