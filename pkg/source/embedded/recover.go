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

	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/fileutil"
	"github.com/prometheus/prometheus/tsdb/wlog"
)

// repairSuffix is the suffix of a segment that the storage is repairing.
const repairSuffix = ".repair"

// recoverLog repairs the write-ahead log before the storage opens it, so that the storage finds nothing to repair. The storage's own repair
// renames the damaged segment, writes the readable part to a new segment, and deletes the damaged segment and all later ones. If the disk
// is full or the process is killed in between, the samples remain in a file that is never read again. Here, each step is one rename or one
// truncation. It needs no space, and after a kill the next start continues.
func recoverLog(dir string, logger *slog.Logger) error {
	log := filepath.Join(dir, "wal")
	if _, err := os.Stat(log); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, step := range []func(string, *slog.Logger) error{restoreSegments, closeGaps, truncateDamaged} {
		if err := step(log, logger); err != nil {
			return fmt.Errorf("recover %s: %w", log, err)
		}
	}
	return nil
}

// restoreSegments undoes interrupted repairs of the storage. Until such a repair is done, the renamed segment contains everything that the
// new segment can contain. It cannot be restored if the log has continued without it. In that case the series have new numbers, and a
// series with two numbers would lose its earlier samples. Such a segment is converted to a block.
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
					"the next start will try again", "file", kept, "err", failed)
			} else {
				logger.Warn("an earlier repair of the write-ahead log was interrupted; "+
					"turning its segment into blocks", "file", kept)
			}
			continue
		}
		if err := fileutil.Rename(kept, filepath.Join(log, name)); err != nil {
			return err
		}
		const restored = "an earlier repair of the write-ahead log was interrupted; its segment was restored"
		logger.Warn(restored, "segment", name)
	}
	return nil
}

// lastWritten returns the number of the last segment that contains a record; -1 if there is none.
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

// segmentNumbers returns the numbers of the segments in ascending order.
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

// closeGaps renumbers the segments after those that an interrupted repair deleted. The storage does not open a log with gaps.
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
			const missing = "segments of the write-ahead log are missing; the next segment was renumbered"
			logger.Warn(missing, "segment", n, "to", want)
		}
	}
	return nil
}

// truncateDamaged truncates segments after their last readable record. The rest was written while the process was killed or the disk became
// full. Unlike in the storage's own repair, later segments are kept, because no record spans two segments.
func truncateDamaged(log string, logger *slog.Logger) error {
	all, err := segmentNumbers(log)
	if err != nil {
		return err
	}
	for _, n := range all {
		path := wlog.SegmentName(log, n)
		end, err := readSegment(path)
		if err == nil {
			continue
		}
		if !isCorruption(err) {
			return err
		}
		whole, failed := os.Stat(path)
		if failed != nil {
			return failed
		}
		if failed := os.Truncate(path, end); failed != nil {
			return failed
		}
		logger.Warn("the write-ahead log was repaired by cutting off the unreadable end of a segment",
			"segment", path, "kept_bytes", end, "cut_bytes", whole.Size()-end, "err", errors.Unwrap(err))
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

// isCorruption reports whether an error is about the content of a segment, and not about reading the file.
func isCorruption(err error) bool {
	var (
		content *wlog.CorruptionErr
		disk    *fs.PathError
	)
	return errors.As(err, &content) && !errors.As(err, &disk)
}

// rescueDir is the directory in which a segment left by a repair is read. The storage does not read it.
const rescueDir = "rescue"

// rescueSegment converts a segment that a repair left and that cannot be restored to a block, and deletes it. To read it, the storage gets
// a copy of the log from before the segment's successor. If the process is killed, the segment remains, and the block may exist twice. The
// storage merges such blocks.
func rescueSegment(dir, kept string, index int, logger *slog.Logger) (err error) {
	// blockFile is the size that the storage allocates for a file of a block before it writes it.
	const blockFile = 512 << 20
	log, scratch := filepath.Join(dir, "wal"), filepath.Join(dir, rescueDir)
	if err = os.RemoveAll(scratch); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	size, err := fileutil.DirSize(log)
	if err != nil {
		return err
	}
	have, err := freeSpace(dir)
	if err != nil {
		return err
	}
	if want := size + blockFile; have < want {
		return fmt.Errorf("%s free, but %s are needed", mebibytes(have), mebibytes(want))
	}
	copied := filepath.Join(scratch, "wal")
	if err = errors.Join(
		os.CopyFS(copied, os.DirFS(log)), rewindLog(copied, index),
		os.Rename(filepath.Join(copied, filepath.Base(kept)), wlog.SegmentName(copied, index)),
	); err != nil {
		return err
	}
	if err = truncateDamaged(copied, logger); err != nil {
		return err
	}
	db, err := tsdb.OpenDBReadOnly(scratch, "", logger.With("component", rescueDir))
	if err != nil {
		return err
	}
	if err = errors.Join(db.FlushWAL(dir), db.Close()); err != nil {
		return err
	}
	return os.Remove(kept)
}

// rewindLog deletes the log from a segment on. If there is a later checkpoint, it deletes the whole log, because the checkpoint has the
// present numbers of the series, and the segment has other numbers.
func rewindLog(log string, index int) error {
	checkpoint, last, err := wlog.LastCheckpoint(log)
	later := err == nil && last >= index
	if later {
		if err = os.RemoveAll(checkpoint); err != nil {
			return err
		}
	}
	all, err := segmentNumbers(log)
	for _, n := range all {
		if later || n >= index {
			err = errors.Join(err, os.Remove(wlog.SegmentName(log, n)))
		}
	}
	return err
}
