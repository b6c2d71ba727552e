package embedded_test

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// Whatever a scrape file says, it is an error that names the file, or an engine that can be run and closed.
func FuzzScrapeFile(f *testing.F) {
	for _, text := range []string{
		"scrape_configs:\n- job_name: a\n  static_configs: [{targets: ['127.0.0.1:9']}]\n",
		"scrape_configs:\n- job_name: a\n  sample_limit: 99999999\n  body_size_limit: 1PB\n", "scrape_configs: [null]\n",
		"scrape_configs:\n- {job_name: a, scrape_interval: 0s, scrape_timeout: 1y}\n", "a: &a [*a]\n", "global: null\n",
		"scrape_configs:\n- {job_name: a, kubernetes_sd_configs: [{}]}\n", "scrape_config_files: ['/dev/*', '*']\n",
		"scrape_configs:\n- {job_name: a, file_sd_configs: [{files: ['*.yaml']}], label_limit: -1}\nrule_files: [x]\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "scrape.yaml")
		must(t, os.WriteFile(path, text, 0o600))
		e, err := embedded.Open(embedded.Config{Dir: t.TempDir(), ScrapeFile: path}, discard())
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		must(t, e.Close())
	})
}

// Ten thousand series that are replaced by others every half hour take no more of the disk after fourteen hours than after
// seven: what MaxBytes allows, two hours of log (here 20 MiB) and the file of a block that is being written (32 MiB).
func TestDiskOfChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("nine million samples")
	}
	const (
		hours = 14
		most  = 96 * mib
		alive = 10_000
		step  = time.Minute
		life  = 30 * time.Minute
	)
	e := open(t, embedded.Config{MaxBytes: most}.WithReserve(1))
	var peak, early int64
	refs := make([]storage.SeriesRef, alive)
	names := make([]labels.Labels, alive)
	for at := origin; at.Before(origin.Add(time.Duration(hours) * time.Hour)); at = at.Add(step) {
		a := e.Appender(t.Context())
		for i := range alive {
			if n := at.Sub(origin) + life*time.Duration(i)/alive; n%life < step || refs[i] == 0 {
				refs[i] = 0
				names[i] = labels.FromStrings("__name__", "load", "namespace", "team", "pod", "web-"+strconv.Itoa(i),
					"uid", strconv.FormatInt(at.Unix(), 36)+"-"+strconv.Itoa(i))
			}
			var err error
			v := math.Sin(float64(at.Unix() + int64(i)))
			if refs[i], err = a.Append(refs[i], names[i], 0, at.UnixMilli(), v, nil, nil,
				storage.AOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		must(t, a.Commit())
		if at.Sub(origin)%(10*time.Minute) == 0 {
			e.KeepUp()
		}
		// The log's samples become a block when they span three hours. Time runs faster here than that.
		eventually(t, "the head is compacted", func() bool {
			peak = max(peak, usedBytes(t, e.Dir()))
			return at.Sub(e.Oldest()) <= 3*time.Hour+step
		})
		if at.Sub(origin) == time.Duration(hours)*time.Hour/2 {
			early = peak
		}
	}
	t.Logf(
		"%d hours, %d series: MaxBytes %d MiB, peak %d MiB in the first half, %d MiB in all, now %d MiB in %d blocks",
		hours, alive*hours*int(time.Hour/life), most/mib, early/mib, peak/mib, usedBytes(t, e.Dir())/mib,
		e.Health().Blocks,
	)
	if bound := int64(most + 64*mib); peak > bound {
		t.Errorf("peak of %d MiB, want at most %d", peak/mib, bound/mib)
	}
}

// usedBytes is what a directory takes of the disk.
func usedBytes(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(_ string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return nil //nolint:nilerr // Compactions delete files meanwhile.
		}
		if found, err := f.Info(); err == nil {
			if disk, ok := found.Sys().(*syscall.Stat_t); ok {
				bytes += disk.Blocks * 512 // Allocated, though nothing may be written there yet.
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return bytes
}
