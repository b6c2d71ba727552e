package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/tsdbutil"
	"github.com/prometheus/prometheus/util/compression"
)

// store is the TSDB of a directory. It protects stored samples from a full disk:
//
//   - Some space is kept free (reserve). Samples are refused before it is used, so that the storage can finish its writes.
//   - After a failed write nothing is written. The write may have left half a record, after which nothing is read at a
//     restart, and its new series are in memory but not in the log. So the storage is reopened.
//   - With very little space the storage is not opened: it writes while it reads its log, and panics if it cannot.
type store struct {
	cfg    Config
	logger *slog.Logger
	lock   *tsdbutil.DirLocker

	// use is read-locked to use db, and write-locked to replace it.
	use sync.RWMutex
	// db is nil while it cannot be opened.
	db *tsdb.DB
	// head is the head of db or of the previous db; nil before the first one.
	head atomic.Pointer[tsdb.Head]
	// opened counts how often the storage was opened. References of series are different after each opening.
	opened uint64

	// commits serializes commits, so that none follows a failed commit.
	commits sync.Mutex

	mu sync.Mutex
	// err says why samples are not being stored; nil while they are.
	err error
	// broken is true if the storage must be reopened before it stores another sample.
	broken bool
}

// openStore locks the directory and opens the storage. If the disk is too full, it returns a store without storage, and reopen opens the
// storage when there is space.
func openStore(cfg Config, logger *slog.Logger) (*store, error) {
	const private = 0o750
	if err := os.MkdirAll(cfg.Dir, private); err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	lock, err := tsdbutil.NewDirLocker(cfg.Dir, "tsdb", logger, nil)
	if err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	switch err = lock.Lock(); {
	case errors.Is(err, syscall.EAGAIN):
		return nil, fmt.Errorf("embedded engine: %s is in use by another process: stop it, or use another "+
			"directory: %w", cfg.Dir, err)
	case err != nil:
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	s := &store{cfg: cfg, logger: logger, lock: lock}
	if err := s.checkFree(cfg.reserve / openShare); err != nil {
		s.broken = true
		s.setErr(err)
		return s, nil
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return s, nil
}

// open repairs the log and opens the storage.
func (s *store) open() error {
	if err := recoverLog(s.cfg.Dir, s.logger); err != nil {
		return fmt.Errorf("embedded engine: %w", err)
	}
	options := tsdb.DefaultOptions()
	options.RetentionDuration = s.cfg.Retention.Milliseconds()
	options.MaxBytes = s.maxBytes()
	options.MinBlockDuration = minRetention.Milliseconds()
	options.MaxBlockDuration = s.cfg.blockRange()
	options.WALCompression = compression.Snappy
	options.MaxBlockChunkSegmentSize = segmentBytes
	options.NoLockfile = true // The store has the lock, even while the storage is closed.
	// The storage also reloads after every compaction, and writeChunks does the rest.
	options.BlockReloadInterval = math.MaxInt64
	db, err := tsdb.Open(s.cfg.Dir, s.logger.With("component", "tsdb"), prometheus.NewRegistry(), options, nil)
	if err != nil {
		return fmt.Errorf("embedded engine: open %s: %w", s.cfg.Dir, err)
	}
	// The blocks of an interrupted backfill were never part of the history.
	if err := os.RemoveAll(filepath.Join(s.cfg.Dir, stagingDir)); err != nil {
		return errors.Join(fmt.Errorf("embedded engine: %w", err), db.Close())
	}
	s.db = db
	s.head.Store(db.Head())
	s.opened++
	return nil
}

// checkDisk checks the free space and returns why samples are not stored, or nil.
func (s *store) checkDisk() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return s.err
	}
	want := s.cfg.reserve
	if s.err != nil {
		want += want / resumeShare
	}
	if err := s.checkFree(want); err == nil || s.err == nil {
		s.setErr(err)
	}
	return s.err
}

// setErr records whether samples are being stored, and logs a change. The caller holds mu. An error keeps its text while it persists. It
// appears in statuses, which must not be updated for every byte.
func (s *store) setErr(err error) {
	switch {
	case err != nil && s.err == nil:
		s.logger.Error("samples are not stored", "err", err)
	case err == nil && s.err != nil:
		s.logger.Info("samples are stored again", "after", s.err)
	}
	s.err = err
}

// markBroken records that a write has failed.
func (s *store) markBroken(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = true
	s.setErr(
		fmt.Errorf(
			"a write to %s failed: %w: no samples are stored until Forewarm has reopened the storage",
			s.cfg.Dir,
			err,
		),
	)
}

func (s *store) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// acquire returns the open storage. It is not replaced before release.
func (s *store) acquire() (db *tsdb.DB, release func(), err error) {
	if err := s.checkDisk(); err != nil {
		return nil, nil, err
	}
	s.use.RLock()
	if s.db == nil {
		s.use.RUnlock()
		return nil, nil, errors.New("the storage is being opened")
	}
	return s.db, s.use.RUnlock, nil
}

// headState returns the number of series in memory, and the time of their oldest sample.
func (s *store) headState() (series uint64, oldest int64) {
	if head := s.head.Load(); head != nil {
		return head.NumSeries(), head.MinTime()
	}
	return 0, 0
}

// endAppender calls the Commit or Rollback of an appender. Both write new series to the log.
func (s *store) endAppender(end func() error) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	err := end()
	if err != nil {
		s.markBroken(err)
	}
	return err
}

// reopen reopens a broken storage if there is space. It returns false if that failed.
func (s *store) reopen() bool {
	if s.checkDisk() == nil || !s.isBroken() || s.checkFree(s.cfg.reserve+s.cfg.reserve/resumeShare) != nil {
		return true
	}
	s.use.Lock()
	defer s.use.Unlock()
	if err := s.closeDB(); err != nil {
		s.logger.Warn("cannot close the storage before it is reopened", "err", err)
	}
	err := s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err != nil
	s.setErr(err)
	return err == nil
}

// writeChunks writes complete chunks from memory to disk. The storage panics if the disk is full. The log has the samples, so the panic is
// recovered and the storage is reopened.
func (s *store) writeChunks() {
	s.use.RLock()
	defer s.use.RUnlock()
	if s.db == nil || s.checkDisk() != nil {
		return
	}
	if err := recoverPanic(func() error { s.db.ForceHeadMMap(); return nil }); err != nil {
		s.markBroken(err)
	}
}

// recoverPanic converts a panic of the storage to an error. The storage panics if it cannot write chunks.
func recoverPanic(do func() error) (err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("%v", failed)
		}
	}()
	return do()
}

// closeDB closes the storage. The caller holds use. A storage that has panicked panics here again. It leaks some files and a goroutine each
// time the disk is full. Without the recovery, the process would end.
func (s *store) closeDB() error {
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	return recoverPanic(db.Close)
}

func (s *store) close() error {
	s.use.Lock()
	defer s.use.Unlock()
	return errors.Join(s.closeDB(), s.lock.Release())
}
