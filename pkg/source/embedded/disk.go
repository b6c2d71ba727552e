package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/alecthomas/units"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/util/runtime"
)

const (
	// DefaultMaxBytes is enough for twice sixteen days of 10,000 series every fifteen seconds.
	DefaultMaxBytes = 5 * units.GiB

	// maxDiskPercent limits MaxBytes to a share of the disk. The log grows beyond MaxBytes between two compactions, and a compaction writes
	// the new block before it deletes the old ones.
	maxDiskPercent = 80

	// defaultReserve is the free space below which no sample is stored.
	defaultReserve = 64 << 20
	// openShare: if less than 1/openShare of the reserve is free, the storage is not opened, because that writes 4 MiB buffers.
	openShare = 4
	// resumeShare: samples are stored again when the free space exceeds the reserve by 1/resumeShare.
	resumeShare = 4

	// segmentBytes is the size of a block's files. A compaction begins by allocating a full file, which has 512 MiB by default.
	segmentBytes = 32 << 20

	reopenInterval    = 5 * time.Second
	maxReopenInterval = time.Minute
	chunkInterval     = time.Minute
)

// checkFree returns an error if less than want is free.
func (s *store) checkFree(want int64) error {
	have, err := freeSpace(s.cfg.Dir)
	if err != nil {
		return err
	}
	if have < want {
		return fmt.Errorf(
			"the disk of %s is full: %s free, but %s are needed: delete files or enlarge the volume",
			s.cfg.Dir,
			mebibytes(have),
			mebibytes(want),
		)
	}
	return nil
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// maxBytes returns the configured limit, or the maximum that the disk allows if that is less.
func (s *store) maxBytes() int64 {
	size := runtime.FsSize(s.cfg.Dir)
	fits := int64(size / 100 * maxDiskPercent) //nolint:gosec // No disk is that large.
	if fits == 0 || s.cfg.MaxBytes <= fits {
		return s.cfg.MaxBytes
	}
	s.logger.Info("the disk is smaller than the size limit of the history, so old samples are deleted earlier",
		"dir", s.cfg.Dir, "max_bytes", s.cfg.MaxBytes, "disk_bytes", size, "used", fits)
	return fits
}

// maintain reopens the storage when needed, and writes chunks to disk, until the context ends.
func (s *store) maintain(ctx context.Context) {
	chunks := time.NewTicker(chunkInterval) //nolint:forbidigo // It is for the disk; no value depends on it.
	defer chunks.Stop()
	pause := reopenInterval
	for {
		select {
		case <-ctx.Done():
			return
		case <-chunks.C:
			s.writeChunks()
		case <-time.After(pause): //nolint:forbidigo // As above.
			if s.reopen() {
				pause = reopenInterval
			} else {
				pause = min(2*pause, maxReopenInterval)
			}
		}
	}
}

// StorageError is nil while samples are stored. Otherwise the disk is full or cannot be written to. Samples are stored
// again, without a restart, when the cause is gone.
func (e *Engine) StorageError() error { return e.store.checkDisk() }

//nolint:gochecknoglobals // A constant table.
var (
	storageFull = prometheus.NewDesc("forewarm_storage_full",
		"1 while the embedded engine stores no samples because its disk is full or not writable, otherwise 0.",
		nil, nil)
	storageFree = prometheus.NewDesc("forewarm_storage_free_bytes",
		"Free space on the disk that has the data of the embedded engine.", nil, nil)
)

func (s *store) collect(out chan<- prometheus.Metric) {
	full := 0.
	if s.checkDisk() != nil {
		full = 1
	}
	out <- prometheus.MustNewConstMetric(storageFull, prometheus.GaugeValue, full)
	if n, err := freeSpace(s.cfg.Dir); err == nil {
		out <- prometheus.MustNewConstMetric(storageFree, prometheus.GaugeValue, float64(n))
	}
}
