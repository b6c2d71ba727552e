package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/fileutil"
	"github.com/prometheus/prometheus/tsdb/record"
	"github.com/prometheus/prometheus/tsdb/wlog"
)

// rescueDir is where a segment left by a repair is read. The storage does not read it.
const rescueDir = "rescue"

// rescueSegment turns a segment that a repair left and that cannot be restored into blocks, and deletes it. The segment
// is read with the log before it, in a separate storage. If the process is killed, the segment stays, and some blocks
// may exist twice, which the storage merges.
func rescueSegment(dir, kept string, index int, logger *slog.Logger) (err error) {
	scratch := filepath.Join(dir, rescueDir)
	if err = os.RemoveAll(scratch); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	size, err := linkLog(filepath.Join(dir, "wal"), filepath.Join(scratch, "wal"), kept, index)
	if err != nil {
		return err
	}
	have, err := freeSpace(dir)
	if err != nil {
		return err
	}
	// An upper bound: chunks are smaller than the log, and are written twice.
	if have < 2*size {
		return fmt.Errorf("%s free, want %s", mebibytes(have), mebibytes(2*size))
	}
	if err = truncateDamaged(filepath.Join(scratch, "wal"), logger); err != nil {
		return err
	}
	if err = compactAll(scratch, logger); err != nil {
		return err
	}
	if err = moveBlocks(scratch, dir); err != nil {
		return err
	}
	return os.Remove(kept)
}

// linkLog links the log as it was when a repair left a segment, with that segment in its place, and returns the size.
func linkLog(from, to, kept string, index int) (size int64, err error) {
	before, err := logBefore(from, index)
	if err != nil {
		return 0, err
	}
	links := map[string]string{kept: wlog.SegmentName(to, index)}
	for _, name := range before {
		links[filepath.Join(from, name)] = filepath.Join(to, name)
	}
	for old, link := range links {
		found, err := os.Stat(old)
		if err != nil {
			return 0, err
		}
		size += found.Size()
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o750), os.Link(old, link)); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// logBefore lists the files of a log that are read before a segment, by their paths in the log. There are none if there
// is a later checkpoint: it has the current numbers of the series.
func logBefore(log string, index int) (names []string, err error) {
	checkpoint, last, err := wlog.LastCheckpoint(log)
	switch {
	case errors.Is(err, record.ErrNotFound):
		last = -1
	case err != nil:
		return nil, err
	case last >= index:
		return nil, nil
	default:
		parts, failed := segmentNumbers(checkpoint)
		if failed != nil {
			return nil, failed
		}
		for _, n := range parts {
			names = append(names, wlog.SegmentName(filepath.Base(checkpoint), n))
		}
	}
	all, err := segmentNumbers(log)
	for _, n := range all {
		if n > last && n < index {
			names = append(names, wlog.SegmentName("", n))
		}
	}
	return names, err
}

// moveBlocks moves the blocks of one directory to another.
func moveBlocks(from, to string) error {
	found, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range found {
		if _, err := os.Stat(filepath.Join(from, f.Name(), "meta.json")); err != nil {
			continue // Not a block.
		}
		if err := fileutil.Rename(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// compactAll turns the log in a directory into blocks.
func compactAll(dir string, logger *slog.Logger) (err error) {
	options := tsdb.DefaultOptions()
	options.RetentionDuration = 0
	options.MinBlockDuration = minRetention.Milliseconds()
	options.MaxBlockDuration = minRetention.Milliseconds()
	options.MaxBlockChunkSegmentSize = segmentBytes
	options.BlockReloadInterval = math.MaxInt64
	db, err := tsdb.Open(dir, logger.With("component", rescueDir), prometheus.NewRegistry(), options, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.DisableCompactions()
	head := db.Head()
	if head.NumSeries() == 0 {
		return nil
	}
	length, oldest, newest := minRetention.Milliseconds(), head.MinTime(), head.MaxTime()
	for from := oldest - positiveMod(oldest, length); from <= newest; from += length {
		part := tsdb.NewRangeHead(head, max(from, oldest), min(from+length-1, newest))
		if err := db.CompactHead(part); err != nil {
			return err
		}
	}
	return nil
}
