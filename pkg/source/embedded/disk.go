package embedded

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/alecthomas/units"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/util/runtime"
)

const (
	// DefaultMaxBytes is how much of the disk history takes where nothing else is said: sixteen days of 10,000 series
	// every fifteen seconds, twice.
	DefaultMaxBytes = 5 * units.GiB

	// mostOfDisk is the share of the disk's size that MaxBytes may be, in percent: the log grows beyond it between two
	// compactions, and a compaction writes the new block before it deletes the old ones.
	mostOfDisk = 80

	// defaultReserve is the free space below which no sample is stored.
	defaultReserve = 64 << 20
	// openShare is the part of the reserve below which the storage is not opened: it writes what its log holds in
	// buffers of 4 MiB.
	openShare = 4
	// resumeShare is the part of the reserve that must be free beyond it before samples are stored again.
	resumeShare = 4

	// segmentBytes is the size of a block's files. A compaction allocates a whole one before it writes, by default 512 MiB,
	// and fails where there is less.
	segmentBytes = 32 << 20

	mendEvery   = 5 * time.Second
	mendLongest = time.Minute
	keepUpEvery = time.Minute
)

// free is the space on the disk of a directory that this process may use.
func free(dir string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	//nolint:unconvert // The types are others on other systems.
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}

// room is an error where less is free than is wanted.
func (s *store) room(want int64) error {
	have, err := free(s.cfg.Dir)
	if err != nil {
		return err
	}
	if have < want {
		return fmt.Errorf(
			"the disk of %s is full: %s free, want %s: make room there or enlarge the volume",
			s.cfg.Dir,
			mebibytes(have),
			mebibytes(want),
		)
	}
	return nil
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// maxBytes is the bound of the configuration, or what the disk allows where that is less.
func (s *store) maxBytes() int64 {
	size := runtime.FsSize(s.cfg.Dir)
	fits := int64(size / 100 * mostOfDisk) //nolint:gosec // No disk is that large.
	if fits == 0 || s.cfg.MaxBytes <= fits {
		return s.cfg.MaxBytes
	}
	s.logger.Info("the disk is smaller than what history may take: the oldest goes earlier",
		"dir", s.cfg.Dir, "max_bytes", s.cfg.MaxBytes, "disk_bytes", size, "used", fits)
	return fits
}

// watch mends the storage and writes chunks out until the context ends.
func (s *store) watch(ctx context.Context) {
	chunks := time.NewTicker(keepUpEvery) //nolint:forbidigo // It serves the disk, and no figure depends on it.
	defer chunks.Stop()
	pause := mendEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-chunks.C:
			s.keepUp()
		case <-time.After(pause): //nolint:forbidigo // As above.
			if s.mend() {
				pause = mendEvery
			} else {
				pause = min(2*pause, mendLongest)
			}
		}
	}
}

// Storing is nil while samples are stored; else it says why they are not, and what to do: the disk is full, or cannot be
// written to. They are stored again, without a restart, when the cause is gone.
func (e *Engine) Storing() error { return e.store.check() }

//nolint:gochecknoglobals // A constant table.
var (
	storageFull = prometheus.NewDesc(
		"forewarm_storage_full",
		"1 while the embedded engine stores no samples because its disk is full or cannot be written to, else 0.",
		nil,
		nil,
	)
	storageFree = prometheus.NewDesc("forewarm_storage_free_bytes",
		"Free space on the disk of the embedded engine's data.", nil, nil)
)

func describeStore(out chan<- *prometheus.Desc) {
	out <- storageFull
	out <- storageFree
}

func (s *store) collect(out chan<- prometheus.Metric) {
	full := 0.
	if s.check() != nil {
		full = 1
	}
	out <- prometheus.MustNewConstMetric(storageFull, prometheus.GaugeValue, full)
	if n, err := free(s.cfg.Dir); err == nil {
		out <- prometheus.MustNewConstMetric(storageFree, prometheus.GaugeValue, float64(n))
	}
}
