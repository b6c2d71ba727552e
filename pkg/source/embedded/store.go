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

// store is the TSDB of a directory, and what keeps a full disk from costing samples that it holds:
//
//   - Little room is kept free (reserve). Samples are refused before it is gone, so that the storage can finish what it
//     has begun.
//   - Nothing is written after a write that failed. It may have left half a record, behind which nothing is read after a
//     restart; and the series that it made are in memory, but not in the log. So the storage is opened anew.
//   - It is not opened where there is hardly any room: it writes while it reads its log, and panics where it cannot.
type store struct {
	cfg    Config
	logger *slog.Logger
	lock   *tsdbutil.DirLocker

	// use is held for reading by those who use db, and for writing by who replaces it.
	use sync.RWMutex
	// db is nil while it cannot be opened.
	db *tsdb.DB
	// head is its head, or that of the storage before; nil before the first.
	head atomic.Pointer[tsdb.Head]
	// opened counts how often it was: a series has another reference each time.
	opened uint64

	// commits come one by one, so that none follows one that failed.
	commits sync.Mutex

	mu sync.Mutex
	// fault is why no sample is stored at present; nil while they are.
	fault error
	// broken says that the storage must be opened anew before it takes a sample.
	broken bool
}

// openStore takes the directory and opens what is there. Where the disk is too full for that it succeeds nevertheless;
// mend opens the storage when there is room.
func openStore(cfg Config, logger *slog.Logger) (*store, error) {
	const private = 0o750
	if err := os.MkdirAll(cfg.Dir, private); err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	lock, err := tsdbutil.NewDirLocker(cfg.Dir, "tsdb", logger, nil)
	if err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	err = lock.Lock()
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return nil, fmt.Errorf("embedded engine: %s is in use by another process: stop that one, or choose another "+
			"directory: %w", cfg.Dir, err)
	case err != nil:
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	s := &store{cfg: cfg, logger: logger, lock: lock}
	if err := s.room(cfg.reserve / openShare); err != nil {
		s.broken = true
		s.settle(err)
		return s, nil
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return s, nil
}

// open puts the log in order and opens the storage.
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
	options.NoLockfile = true // The store holds it, also while the storage is closed.
	// What the storage does then, but for what keepUp does, follows every compaction too.
	options.BlockReloadInterval = math.MaxInt64
	db, err := tsdb.Open(s.cfg.Dir, s.logger.With("component", "tsdb"), prometheus.NewRegistry(), options, nil)
	if err != nil {
		return fmt.Errorf("embedded engine: open %s: %w", s.cfg.Dir, err)
	}
	// What a backfill that was cut short left behind was never part of the history.
	if err := os.RemoveAll(filepath.Join(s.cfg.Dir, stagingDir)); err != nil {
		return errors.Join(fmt.Errorf("embedded engine: %w", err), db.Close())
	}
	s.db = db
	s.head.Store(db.Head())
	s.opened++
	return nil
}

// check looks at the disk, and tells why no sample is stored, if none is.
func (s *store) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return s.fault
	}
	want := s.cfg.reserve
	if s.fault != nil {
		want += want / resumeShare
	}
	if err := s.room(want); err == nil || s.fault == nil {
		s.settle(err)
	}
	return s.fault
}

// settle notes whether samples are stored, and logs where that has changed. The caller holds mu. A fault keeps its words
// while it lasts: they stand in statuses, which are not written anew for every byte.
func (s *store) settle(fault error) {
	switch {
	case fault != nil && s.fault == nil:
		s.logger.Error("samples are not stored", "err", fault)
	case fault == nil && s.fault != nil:
		s.logger.Info("samples are stored again", "after", s.fault)
	}
	s.fault = fault
}

// spoil notes that a write has failed.
func (s *store) spoil(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = true
	s.settle(fmt.Errorf("a write to %s failed: %w: nothing is stored until the storage is opened anew", s.cfg.Dir, err))
}

func (s *store) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// acquire is the open storage, which is not replaced before it is released.
func (s *store) acquire() (db *tsdb.DB, release func(), err error) {
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	s.use.RLock()
	if s.db == nil {
		s.use.RUnlock()
		return nil, nil, errors.New("the storage is being opened")
	}
	return s.db, s.use.RUnlock, nil
}

// held is how many series are in memory, and the time of the oldest sample there.
func (s *store) held() (series uint64, oldest int64) {
	if head := s.head.Load(); head != nil {
		return head.NumSeries(), head.MinTime()
	}
	return 0, 0
}

// finish ends an appender, by its Commit or its Rollback. Both write to the log: what new series there are.
func (s *store) finish(end func() error) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	err := end()
	if err != nil {
		s.spoil(err)
	}
	return err
}

// mend opens the storage anew where it has to be and there is room. It tells whether that failed.
func (s *store) mend() bool {
	if s.check() == nil {
		return true
	}
	if !s.isBroken() {
		return true
	}
	if s.room(s.cfg.reserve+s.cfg.reserve/resumeShare) != nil {
		return true
	}
	s.use.Lock()
	defer s.use.Unlock()
	if err := s.closeDB(); err != nil {
		s.logger.Warn("close before opening anew", "err", err)
	}
	err := s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err != nil
	s.settle(err)
	return err == nil
}

// keepUp writes the chunks that are complete out of memory. Where that fails the storage panics, which would end the
// process on a full disk; the log has the samples, so it is opened anew instead.
func (s *store) keepUp() {
	s.use.RLock()
	defer s.use.RUnlock()
	if s.db == nil || s.check() != nil {
		return
	}
	if err := caught(func() error { s.db.ForceHeadMMap(); return nil }); err != nil {
		s.spoil(err)
	}
}

// caught turns a panic of the storage, which is how it says that it cannot write chunks, into its error.
func caught(do func() error) (err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("%v", failed)
		}
	}()
	return do()
}

// closeDB closes the storage. The caller holds use. A storage that has panicked does so here again, and leaves some files
// and a goroutine behind: once for every full disk, and the process would have ended otherwise.
func (s *store) closeDB() error {
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	return caught(db.Close)
}

func (s *store) close() error {
	s.use.Lock()
	defer s.use.Unlock()
	return errors.Join(s.closeDB(), s.lock.Release())
}
