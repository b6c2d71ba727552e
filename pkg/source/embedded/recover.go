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

// aside is the ending of a segment that the storage has put aside while it repairs it.
const aside = ".repair"

// recoverLog puts the write-ahead log in order, so that the storage has nothing to repair when it opens it. The storage's
// own repair renames the damaged segment, writes what can be read of it to a new one and deletes it, and every segment
// behind it; a full disk or a kill on the way leaves the samples in a file that is never read again. Here each step is
// one rename or one truncation: it needs no space, and a start after a kill between two of them goes on from there.
func recoverLog(dir string, logger *slog.Logger) error {
	log := filepath.Join(dir, "wal")
	if _, err := os.Stat(log); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := putBack(log, logger); err != nil {
		return fmt.Errorf("recover %s: %w", log, err)
	}
	if err := closeGaps(log, logger); err != nil {
		return fmt.Errorf("recover %s: %w", log, err)
	}
	if err := cutDamage(log, logger); err != nil {
		return fmt.Errorf("recover %s: %w", log, err)
	}
	return nil
}

// putBack undoes the storage's own repairs that were cut short. Until such a repair is done, the segment that was put
// aside holds all that the new one of its name can hold. Where starts since have gone on without it, it cannot be put
// back: series have other numbers since, and a series that is numbered twice loses what was before. Then it becomes a
// block.
func putBack(log string, logger *slog.Logger) error {
	files, err := os.ReadDir(log)
	if err != nil {
		return err
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), aside)
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
			if failed := rescue(filepath.Dir(log), kept, index, logger); failed != nil {
				logger.Error("a segment of the write-ahead log that an earlier repair had put aside is not read yet; "+
					"the next start tries again", "file", kept, "err", failed)
				continue
			}
			logger.Warn(
				"an earlier repair of the write-ahead log was cut short: its segment is made a block",
				"file",
				kept,
			)
			continue
		}
		if err := fileutil.Rename(kept, filepath.Join(log, name)); err != nil {
			return err
		}
		logger.Warn("an earlier repair of the write-ahead log was cut short: its segment is put back", "segment", name)
	}
	return nil
}

// lastWritten is the number of the last segment that holds a record; -1 if none does.
func lastWritten(log string) (int, error) {
	all, err := segments(log)
	if err != nil {
		return 0, err
	}
	for _, n := range slices.Backward(all) {
		end, err := readSegment(wlog.SegmentName(log, n))
		if err != nil && !damaged(err) {
			return 0, err
		}
		if end > 0 {
			return n, nil
		}
	}
	return -1, nil
}

// segments are the numbers of the segments, in their order.
func segments(log string) ([]int, error) {
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

// closeGaps moves segments down to where a repair that was cut short had deleted some. The storage opens no log with gaps.
func closeGaps(log string, logger *slog.Logger) error {
	all, err := segments(log)
	if err != nil || len(all) == 0 {
		return err
	}
	for i, n := range all {
		if want := all[0] + i; n != want {
			if err := fileutil.Rename(wlog.SegmentName(log, n), wlog.SegmentName(log, want)); err != nil {
				return err
			}
			logger.Warn("segments of the write-ahead log are missing: the next is moved up", "segment", n, "to", want)
		}
	}
	return nil
}

// cutDamage cuts off what cannot be read at the end of a segment: a kill, or a full disk, was in the middle of writing it.
// Segments behind it stay, other than in the storage's own repair: no record reaches from one into the next.
func cutDamage(log string, logger *slog.Logger) error {
	all, err := segments(log)
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
			continue // The checkpoint has it, and it is not read again.
		}
		path := wlog.SegmentName(log, n)
		end, err := readSegment(path)
		if err == nil {
			continue
		}
		if !damaged(err) {
			return err
		}
		size, failed := cut(path, end)
		if failed != nil {
			return failed
		}
		logger.Warn("the write-ahead log is repaired: the end of a segment cannot be read and is cut off",
			"segment", path, "kept_bytes", end, "cut_bytes", size-end, "err", errors.Unwrap(err))
	}
	return nil
}

// readSegment tells where the last record of a segment that can be read ends, and what is wrong behind it.
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

// damaged tells what a segment holds from what kept it from being read.
func damaged(err error) bool {
	var (
		content *wlog.CorruptionErr
		disk    *fs.PathError
	)
	return errors.As(err, &content) && !errors.As(err, &disk)
}

// cut shortens a file, and tells how long it was.
func cut(path string, end int64) (size int64, err error) {
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
