package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/tsdb/fileutil"
	"github.com/prometheus/prometheus/tsdb/record"
	"github.com/prometheus/prometheus/tsdb/wlog"
)

// repairSuffix is the suffix of a segment that the storage is repairing.
const repairSuffix = ".repair"

// recoverLog repairs the write-ahead log, so that the storage has nothing to repair when it opens it. The storage's own
// repair renames the damaged segment, writes its readable part to a new one, and deletes it and every later segment; a
// full disk or a kill in between leaves the samples in a file that is never read again. Here each step is one rename or
// one truncation: it needs no space, and after a kill the next start continues.
func recoverLog(dir string, logger *slog.Logger) error {
	log := filepath.Join(dir, "wal")
	if _, err := os.Stat(log); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := restoreSegments(log, logger); err != nil {
		return fmt.Errorf("recover %s: %w", log, err)
	}
	if err := closeGaps(log, logger); err != nil {
		return fmt.Errorf("recover %s: %w", log, err)
	}
	if err := truncateDamaged(log, logger); err != nil {
		return fmt.Errorf("recover %s: %w", log, err)
	}
	return nil
}

// restoreSegments undoes interrupted repairs of the storage. Until such a repair is done, the renamed segment has all
// that the new one of its name can have. If the log has continued without it, it cannot be restored: series have other
// numbers since, and a series with two numbers loses its earlier samples. Then it is turned into blocks.
func restoreSegments(log string, logger *slog.Logger) error {
	files, err := os.ReadDir(log)
	if err != nil {
		return err
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), repairSuffix)
		index, err := strconv.Atoi(name)
		if !ok || err != nil {
			continue
		}
		kept := filepath.Join(log, f.Name())
		last, err := lastWritten(log)
		if err != nil {
			return err
		}
		if last > index {
			if failed := rescueSegment(filepath.Dir(log), kept, index, logger); failed != nil {
				logger.Error("a segment of the write-ahead log from an interrupted repair cannot be read yet; "+
					"the next start tries again", "file", kept, "err", failed)
				continue
			}
			logger.Warn("an earlier repair of the write-ahead log was interrupted: its segment is turned into blocks",
				"file", kept)
			continue
		}
		if err := fileutil.Rename(kept, filepath.Join(log, name)); err != nil {
			return err
		}
		logger.Warn("an earlier repair of the write-ahead log was interrupted: its segment is restored", "segment",
			name)
	}
	return nil
}

// lastWritten is the number of the last segment with a record; -1 if there is none.
func lastWritten(log string) (int, error) {
	all, err := segmentNumbers(log)
	if err != nil {
		return 0, err
	}
	for _, n := range slices.Backward(all) {
		end, err := readSegment(wlog.SegmentName(log, n))
		if err != nil && !isCorruption(err) {
			return 0, err
		}
		if end > 0 {
			return n, nil
		}
	}
	return -1, nil
}

// segmentNumbers are the numbers of the segments, ascending.
func segmentNumbers(log string) ([]int, error) {
	files, err := os.ReadDir(log)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, f := range files {
		if n, err := strconv.Atoi(f.Name()); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// closeGaps renumbers segments after those that an interrupted repair deleted. The storage opens no log with gaps.
func closeGaps(log string, logger *slog.Logger) error {
	all, err := segmentNumbers(log)
	if err != nil || len(all) == 0 {
		return err
	}
	for i, n := range all {
		if want := all[0] + i; n != want {
			if err := fileutil.Rename(wlog.SegmentName(log, n), wlog.SegmentName(log, want)); err != nil {
				return err
			}
			logger.Warn("segments of the write-ahead log are missing: the next one is renumbered", "segment", n, "to",
				want)
		}
	}
	return nil
}

// truncateDamaged truncates segments after their last readable record: a kill or a full disk interrupted a write. Later
// segments stay, unlike in the storage's own repair: no record spans two segments.
func truncateDamaged(log string, logger *slog.Logger) error {
	all, err := segmentNumbers(log)
	if err != nil {
		return err
	}
	_, checkpoint, err := wlog.LastCheckpoint(log)
	if errors.Is(err, record.ErrNotFound) {
		checkpoint, err = -1, nil
	}
	if err != nil {
		return err
	}
	for _, n := range all {
		if n <= checkpoint {
			continue // It is in the checkpoint and not read again.
		}
		path := wlog.SegmentName(log, n)
		end, err := readSegment(path)
		if err == nil {
			continue
		}
		if !isCorruption(err) {
			return err
		}
		size, failed := truncateFile(path, end)
		if failed != nil {
			return failed
		}
		logger.Warn("the write-ahead log is repaired: the unreadable end of a segment is cut off",
			"segment", path, "kept_bytes", end, "cut_bytes", size-end, "err", errors.Unwrap(err))
	}
	return nil
}

// readSegment returns the end of the last readable record of a segment, and the error after it.
func readSegment(path string) (end int64, err error) {
	file, err := os.Open(path) //nolint:gosec // One of the storage's own.
	if err != nil {
		return 0, err
	}
	buffered := wlog.NewSegmentBufReader(&wlog.Segment{SegmentFile: file})
	defer buffered.Close() //nolint:errcheck // It was read only.
	reader := wlog.NewReader(buffered)
	for reader.Next() {
		end = reader.Offset()
	}
	return end, reader.Err()
}

// isCorruption reports whether an error is of the content of a segment, and not of reading the file.
func isCorruption(err error) bool {
	var (
		content *wlog.CorruptionErr
		disk    *fs.PathError
	)
	return errors.As(err, &content) && !errors.As(err, &disk)
}

// truncateFile truncates a file and returns its previous size.
func truncateFile(path string, end int64) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // One of the storage's own.
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	was, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return was.Size(), errors.Join(f.Truncate(end), f.Sync())
}
