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
	// freeNewSeries is how many new series a target may create in any case, until the storage drops old series the next time. A new pod is
	// therefore scraped even if other targets have used up the limit. A model server has about 2,000 series.
	freeNewSeries = 4000

	// maxLoggedErr limits how much of a target's error is logged, because it may quote the answer.
	maxLoggedErr = 200
)

// intake is the storage for scrapes, with a limit on new series. A series stays in the storage's memory for hours, even if its scrape is
// rolled back. Therefore new series wait here until their scrape is committed.
type intake struct {
	store *store
	// maxSeries is the number of series in the storage above which freeNewSeries limits each target.
	maxSeries uint64
	logger    *slog.Logger
	failed    *prometheus.CounterVec

	mu      sync.Mutex
	oldest  int64 // Oldest time of the head when the counts were last reset.
	targets map[*scrape.Target]*targetState
}

// targetState is the state of one target.
type targetState struct {
	made    int // New series since the storage last dropped old series.
	failing bool
	seen    bool // Whether the target was seen since then.
}

func newIntake(store *store, most uint64, logger *slog.Logger) *intake {
	return &intake{
		store: store, maxSeries: most, logger: logger, targets: map[*scrape.Target]*targetState{},
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "forewarm_scrapes_failed_total",
			Help: "Scrapes of a target that failed, or that Forewarm refused because they exceeded a limit.",
		}, []string{"job", "instance"}),
	}
}

// AppenderV2 implements storage.AppendableV2, for one scrape.
func (in *intake) AppenderV2(ctx context.Context) storage.AppenderV2 { //nolint:ireturn // The interface says so.
	target, _ := scrape.TargetFromContext(ctx)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.dropEnded()
	a := in.stateOf(target)
	a.seen = true
	return &scrapeAppender{AppenderV2: in.store.AppenderV2(ctx), intake: in, target: target, made: a.made}
}

// stateOf is the state of a target.
func (in *intake) stateOf(target *scrape.Target) *targetState {
	if in.targets[target] == nil {
		in.targets[target] = &targetState{}
	}
	return in.targets[target]
}

// dropEnded resets all counts when the storage has dropped old series, and deletes targets that no longer exist.
func (in *intake) dropEnded() {
	_, oldest := in.store.headState()
	// The oldest time decreases during the first scrapes, and an empty storage has none.
	if oldest <= in.oldest || oldest == math.MaxInt64 {
		return
	}
	in.oldest = oldest
	for target, a := range in.targets {
		if !a.seen && target != nil {
			in.failed.DeleteLabelValues(targetLabels(target)...)
			delete(in.targets, target)
		}
		a.made, a.seen = 0, false
	}
}

// scrapeAppender collects the samples of one scrape.
type scrapeAppender struct {
	storage.AppenderV2
	intake  *intake
	target  *scrape.Target
	made    int
	waiting []firstSample
}

// firstSample is the first sample of a series.
type firstSample struct {
	labels      labels.Labels
	start, time int64
	value       float64
	integers    *histogram.Histogram
	floats      *histogram.FloatHistogram
}

// Append implements storage.AppenderV2. A new series has no reference before its second scrape, so a series with a
// single sample ends after the lookback, not at once.
//
//nolint:revive // The interface has eight arguments.
func (s *scrapeAppender) Append(
	ref storage.SeriesRef, l labels.Labels, start, at int64, v float64, integers *histogram.Histogram,
	floats *histogram.FloatHistogram, o storage.AppendV2Options,
) (storage.SeriesRef, error) {
	if known, ok := s.AppenderV2.(storage.GetRef); ok && ref == 0 {
		ref, _ = known.GetRef(l, l.Hash())
	}
	if ref != 0 {
		//nolint:wrapcheck // The scraper tells kinds of errors apart.
		return s.AppenderV2.Append(ref, l, start, at, v, integers, floats, o)
	}
	if made := s.made + len(s.waiting) + 1; made > freeNewSeries {
		have, _ := s.intake.store.headState()
		if have += uint64(len(s.waiting)); have >= s.intake.maxSeries {
			return 0, fmt.Errorf("%d new series within a few hours, and the storage has %d of at most %d series: "+
				"drop labels that change, scrape less, or run a Prometheus server", made, have, s.intake.maxSeries)
		}
	}
	s.waiting = append(s.waiting, firstSample{l, start, at, v, integers, floats})
	return 0, nil
}

// Commit implements storage.AppenderV2.
func (s *scrapeAppender) Commit() error {
	made := 0
	for _, w := range s.waiting {
		none := storage.AppendV2Options{}
		ref, err := s.AppenderV2.Append(0, w.labels, w.start, w.time, w.value, w.integers, w.floats, none)
		if err != nil && !isSkipped(err) {
			return errors.Join(fmt.Errorf("embedded engine: %w", err), s.Rollback())
		}
		if ref != 0 { // While the disk is full, no series is created.
			made++
		}
	}
	s.intake.recordScrape(s.target, made)
	return s.AppenderV2.Commit() //nolint:wrapcheck // The scraper logs it.
}

// isSkipped reports whether an error belongs to a sample that the scraper skips, and not to the storage.
func isSkipped(err error) bool {
	return errors.Is(err, storage.ErrOutOfOrderSample) || errors.Is(err, storage.ErrDuplicateSampleForTimestamp) ||
		errors.Is(err, storage.ErrOutOfBounds) || errors.Is(err, storage.ErrTooOldSample)
}

// recordScrape records the result of a scrape and logs a change.
func (in *intake) recordScrape(target *scrape.Target, made int) {
	if target == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	a := in.stateOf(target)
	a.made += made
	err := target.LastError()
	failing := err != nil
	if failing {
		in.failed.WithLabelValues(targetLabels(target)...).Inc()
	}
	if failing == a.failing {
		return
	}
	a.failing = failing
	log := in.logger.With("job", target.GetValue("job"), "instance", target.GetValue("instance"))
	if failing {
		log.Warn("scraping a target failed", "err", fmt.Sprintf("%.*s", maxLoggedErr, err))
	} else {
		log.Info("scraping a target works again")
	}
}

// targetLabels are the values of the labels of a target in metrics.
func targetLabels(target *scrape.Target) []string {
	return []string{target.GetValue("job"), target.GetValue("instance")}
}
