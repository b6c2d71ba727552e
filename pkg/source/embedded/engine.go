package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	configutil "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	promconfig "github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/scrape"
)

// Engine is the open storage with its query engine and scraper. It is safe for concurrent use.
type Engine struct {
	cfg      Config
	logger   *slog.Logger
	registry *prometheus.Registry
	store    *store
	promql   *promql.Engine
	intake   *intake
	scraper  *scrape.Manager
	scraped  *promconfig.Config
	lookback time.Duration
	running  atomic.Bool
}

// Open opens the storage, replays its write-ahead log, and reads the scrape configuration. A damaged log is truncated,
// with a warning. If the disk is full, StorageError reports it, and Run opens the storage when there is space. Nothing
// is scraped before Run. The caller closes the engine.
func Open(cfg Config, logger *slog.Logger) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	scraped, err := scrapeConfig(cfg.ScrapeFile, logger)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, logger: logger, registry: prometheus.NewRegistry(),
		scraped: scraped, lookback: cmp.Or(cfg.Lookback, lookback(scraped)),
	}
	if e.store, err = openStore(cfg, logger); err != nil {
		return nil, err
	}
	if err := e.start(); err != nil {
		return nil, errors.Join(err, e.store.close())
	}
	return e, nil
}

// start creates the parts that use the storage.
func (e *Engine) start() (err error) {
	e.promql = promql.NewEngine(promql.EngineOpts{
		Logger:                   e.logger,
		Reg:                      e.registry,
		MaxSamples:               e.cfg.MaxSamples,
		Timeout:                  e.cfg.QueryTimeout,
		LookbackDelta:            minLookback,
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Minute.Milliseconds() },
		EnableAtModifier:         true,
		Parser:                   parser.NewParser(parser.Options{}),
	})
	e.intake = newIntake(e.store, e.cfg.MaxSeries, e.logger)
	options := &scrape.Options{
		DiscoveryReloadInterval: model.Duration(time.Second), DiscoveryReloadOnStartup: true,
		PassMetadataInContext: true, // The intake needs the target.
		HTTPClientOptions: []configutil.HTTPClientOption{
			configutil.WithDialContextFunc(dialTarget), configutil.WithHTTP2Disabled(),
		},
	}
	e.scraper, err = scrape.NewManager(options, e.logger.With("component", "scrape"), nil, nil, e.intake, e.registry)
	if err != nil {
		return fmt.Errorf("embedded engine: %w", err)
	}
	if err := e.scraper.ApplyConfig(e.scraped); err != nil {
		return fmt.Errorf("embedded engine: %w", err)
	}
	return nil
}

// Run scrapes the targets until the context ends, and returns when the last scrape has. It may be called once.
func (e *Engine) Run(ctx context.Context) error {
	found, err := e.discover(ctx)
	if err != nil {
		return err
	}
	var parts sync.WaitGroup
	failed := make(chan error, 1)
	parts.Go(func() {
		if err := found.Run(); err != nil && ctx.Err() == nil {
			failed <- fmt.Errorf("embedded engine: discovery: %w", err)
		}
	})
	parts.Go(func() {
		if err := e.scraper.Run(found.SyncCh()); err != nil {
			failed <- fmt.Errorf("embedded engine: scraper: %w", err)
		}
	})
	e.store.maintain(ctx)
	e.scraper.Stop()
	parts.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// discover starts the discovery of targets, which ends with the context.
func (e *Engine) discover(ctx context.Context) (*discovery.Manager, error) {
	if e.running.Swap(true) {
		return nil, errors.New("embedded engine: Run was called twice")
	}
	metrics, err := discovery.CreateAndRegisterSDMetrics(e.registry)
	if err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	found := discovery.NewManager(ctx, e.logger.With("component", "discovery"), e.registry, metrics,
		discovery.Updatert(time.Second))
	if found == nil { // The discovery has logged the cause.
		return nil, errors.New("embedded engine: discovery cannot start")
	}
	if err := found.ApplyConfig(discoveries(e.scraped)); err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	return found, nil
}

// Close writes samples in memory to disk and releases the directory. Run must have returned, if it was called.
func (e *Engine) Close() error {
	if err := errors.Join(e.promql.Close(), e.store.close()); err != nil {
		return fmt.Errorf("embedded engine: close: %w", err)
	}
	return nil
}

// Describe implements prometheus.Collector.
func (e *Engine) Describe(descriptions chan<- *prometheus.Desc) {
	e.intake.failed.Describe(descriptions)
	descriptions <- storageFull
	descriptions <- storageFree
}

// Collect implements prometheus.Collector: failed scrapes by target, and the state of the disk.
func (e *Engine) Collect(metrics chan<- prometheus.Metric) {
	e.intake.failed.Collect(metrics)
	e.store.collect(metrics)
}

// Health describes the stored history.
type Health struct {
	// Series is the number of series that are being written.
	Series uint64
	// Blocks is the number of blocks on disk.
	Blocks int
	// From and To are the times of the oldest and newest sample; zero where there is none.
	From, To time.Time
}

// Health describes the stored history, without a query. It is empty while StorageError is not nil.
func (e *Engine) Health() Health {
	var h Health
	db, release, err := e.store.acquire()
	if err != nil {
		return h
	}
	defer release()
	h.Series = db.Head().NumSeries()
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, b := range db.BlockMetas() {
		h.Blocks++
		first, last = min(first, b.MinTime), max(last, b.MaxTime-1)
	}
	if h.Series > 0 {
		first, last = min(first, db.Head().MinTime()), max(last, db.Head().MaxTime())
	}
	if first <= last {
		h.From, h.To = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
	}
	return h
}
