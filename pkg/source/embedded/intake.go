package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/storage"
)

const (
	// share is how many new series a target may always make until the storage forgets the next old ones: a pod that
	// starts is heard, whatever the others have used up. A server of language models has some 2,000.
	share = 4000

	// tellErr is how much of a target's error is logged: it may quote the answer.
	tellErr = 200
)

// intake is what scrapes write to. A series that the storage has made stays in memory for hours, even if its scrape is
// rolled back; so new series wait here until their whole scrape is kept, and they are bounded.
type intake struct {
	store *store
	// most is how many series the storage holds before a target is held to its share.
	most   uint64
	logger *slog.Logger
	failed *prometheus.CounterVec

	mu      sync.Mutex
	oldest  int64 // Of the head when made was last emptied.
	targets map[*scrape.Target]*account
}

// account is what is known of one target.
type account struct {
	made    int // New series since the storage forgot the last old ones.
	failing bool
	seen    bool // Since then.
}

func newIntake(store *store, most uint64, logger *slog.Logger) *intake {
	return &intake{
		store: store, most: most, logger: logger, targets: map[*scrape.Target]*account{},
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "forewarm_scrapes_failed_total",
			Help: "Scrapes of a target that failed, or were refused because they were beyond a limit.",
		}, []string{"job", "instance"}),
	}
}

// AppenderV2 implements storage.AppendableV2, for one scrape.
func (in *intake) AppenderV2(ctx context.Context) storage.AppenderV2 { //nolint:ireturn // The interface says so.
	target, _ := scrape.TargetFromContext(ctx)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.forget()
	a := in.account(target)
	a.seen = true
	return &scraped{AppenderV2: in.store.AppenderV2(ctx), intake: in, target: target, made: a.made}
}

// account is what is known of a target.
func (in *intake) account(target *scrape.Target) *account {
	if in.targets[target] == nil {
		in.targets[target] = &account{}
	}
	return in.targets[target]
}

// forget starts all accounts anew where the storage has let go of old series, and ends those of targets that are gone.
func (in *intake) forget() {
	_, oldest := in.store.held()
	// It falls while the first scrapes come, and an empty storage has none.
	if oldest <= in.oldest || oldest == math.MaxInt64 {
		return
	}
	in.oldest = oldest
	for target, a := range in.targets {
		if !a.seen && target != nil {
			in.failed.DeleteLabelValues(names(target)...)
			delete(in.targets, target)
		}
		a.made, a.seen = 0, false
	}
}

// scraped collects the samples of one scrape.
type scraped struct {
	storage.AppenderV2
	intake  *intake
	target  *scrape.Target
	made    int
	waiting []sample
}

// sample is the first of its series.
type sample struct {
	labels      labels.Labels
	start, time int64
	value       float64
	integers    *histogram.Histogram
	floats      *histogram.FloatHistogram
}

// Append implements storage.AppenderV2. A series that is new has no reference before its second scrape, so one that was
// there once alone ends after the lookback, and not at once.
//
//nolint:revive // The interface has eight arguments.
func (s *scraped) Append(
	ref storage.SeriesRef,
	l labels.Labels,
	start, at int64,
	v float64,
	integers *histogram.Histogram,
	floats *histogram.FloatHistogram,
	o storage.AppendV2Options,
) (storage.SeriesRef, error) {
	if known, ok := s.AppenderV2.(storage.GetRef); ok && ref == 0 {
		ref, _ = known.GetRef(l, l.Hash())
	}
	if ref != 0 {
		//nolint:wrapcheck // The scraper tells kinds of errors apart.
		return s.AppenderV2.Append(ref, l, start, at, v, integers, floats, o)
	}
	if made := s.made + len(s.waiting) + 1; made > share {
		have, _ := s.intake.store.held()
		if have += uint64(len(s.waiting)); have >= s.intake.most {
			return 0, fmt.Errorf("%d new series within hours, and the storage holds %d of at most %d: "+
				"drop labels that change, scrape less, or run a Prometheus", made, have, s.intake.most)
		}
	}
	s.waiting = append(s.waiting, sample{l, start, at, v, integers, floats})
	return 0, nil
}

// Commit implements storage.AppenderV2.
func (s *scraped) Commit() error {
	made := 0
	for _, w := range s.waiting {
		none := storage.AppendV2Options{}
		ref, err := s.AppenderV2.Append(0, w.labels, w.start, w.time, w.value, w.integers, w.floats, none)
		if err != nil && !dropped(err) {
			return errors.Join(fmt.Errorf("embedded engine: %w", err), s.Rollback())
		}
		if ref != 0 { // While the disk is full nothing is made.
			made++
		}
	}
	s.intake.settle(s.target, made)
	return s.AppenderV2.Commit() //nolint:wrapcheck // The scraper logs it.
}

// dropped tells a sample that the scraper, too, would leave out from a storage that fails.
func dropped(err error) bool {
	for _, kind := range []error{
		storage.ErrOutOfOrderSample, storage.ErrDuplicateSampleForTimestamp, storage.ErrOutOfBounds, storage.ErrTooOldSample,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// settle notes how a scrape of the target ended. A change is logged.
func (in *intake) settle(target *scrape.Target, made int) {
	if target == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	a := in.account(target)
	a.made += made
	err := target.LastError()
	if err != nil {
		in.failed.WithLabelValues(names(target)...).Inc()
	}
	failing := err != nil
	if failing == a.failing {
		return
	}
	a.failing = failing
	log := in.logger.With("job", target.GetValue("job"), "instance", target.GetValue("instance"))
	if failing {
		log.Warn("a scrape target fails", "err", fmt.Sprintf("%.*s", tellErr, err))
	} else {
		log.Info("a scrape target answers again")
	}
}

// names are the values of the labels by which a target is counted.
func names(target *scrape.Target) []string {
	return []string{target.GetValue("job"), target.GetValue("instance")}
}
