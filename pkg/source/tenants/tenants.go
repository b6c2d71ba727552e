package tenants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Interval is how often the file is read.
const Interval = 5 * time.Second

// Sources are the sources of a file. It is safe for concurrent use.
type Sources struct {
	config  Config
	log     *slog.Logger
	metrics *metrics

	grants   atomic.Pointer[grants]
	revision atomic.Uint64
	// content is the content of the file in use.
	content []byte
}

// Config of the sources.
type Config struct {
	// File is the operator's file.
	File string
	// Timeout of one request.
	Timeout time.Duration
	// PodIdentity lets sources use the cloud identity of Forewarm's own pod. Otherwise each needs credentials of its own.
	PodIdentity bool
	// Now is the time, for the metrics.
	Now func() time.Time
}

var (
	_ refresh.Batcher = (*Sources)(nil)
	_ refresh.Clocked = (*Sources)(nil)
)

// grants are the sources of one version of the file, in the order of the file. They are never modified.
type grants []*client

// client is a source with its connections.
type client struct {
	Source

	revision string
	source   *prometheus.Source
	// err says why there is no client, for example because a file does not exist yet. Only the namespaces of this source are affected, and the
	// next reload tries again.
	err error
}

// Open reads the file for the first time; an error in it is one of Open.
func Open(config Config, log *slog.Logger) (*Sources, error) {
	s := &Sources{config: config, log: log, metrics: newMetrics()}
	s.grants.Store(&grants{})
	if err := s.Reload(); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the connections that are kept open.
func (s *Sources) Close() {
	for _, c := range *s.grants.Load() {
		c.close()
	}
}

// Run reads the file at every interval until the context ends.
func (s *Sources) Run(ctx context.Context, clock run.Clock) error {
	var before string
	for {
		if err := clock.WaitUntil(ctx, clock.Now().Add(Interval)); err != nil {
			return nil //nolint:nilerr // The context ended: that is how Run ends.
		}
		err := s.Reload()
		text := fmt.Sprint(err)
		if err != nil && text != before {
			s.log.WarnContext(
				ctx,
				"cannot use the new sources file; keeping the previous sources and retrying",
				"error",
				err,
			)
		}
		before = text
	}
}

// Reload reads the file. On an error the grants stay as they were. Reload must not be called concurrently.
func (s *Sources) Reload() error {
	err := s.reload()
	s.metrics.reloaded(err)
	return err
}

func (s *Sources) reload() error {
	content, err := readFile(s.config.File)
	if err != nil {
		return fmt.Errorf("read the sources file: %w", err)
	}
	before := *s.grants.Load()
	incomplete := slices.ContainsFunc(before, func(c *client) bool { return c.err != nil })
	if s.content != nil && slices.Equal(content, s.content) && !incomplete {
		return nil
	}
	next, err := before.replace(content, s.config)
	if err != nil {
		return fmt.Errorf("sources file %s: %w", s.config.File, err)
	}
	s.logChanges(before, next, content)
	if !slices.Equal(content, s.content) {
		s.content = content
		s.revision.Add(1)
	}
	s.grants.Store(&next)
	for _, old := range before {
		if !slices.ContainsFunc(next, func(c *client) bool { return c.source == old.source }) {
			old.close()
		}
		if next.named(old.Name) == nil {
			s.metrics.remove(old.Name)
		}
	}
	return nil
}

// logChanges logs a new version of the file, and each problem of a source when it appears.
func (s *Sources) logChanges(before, after grants, content []byte) {
	if !slices.Equal(content, s.content) {
		s.log.Info("read the sources file", "file", s.config.File, "sources", len(after))
	}
	for _, c := range after {
		old := before.named(c.Name)
		if c.err != nil && (old == nil || old.err == nil || old.err.Error() != c.err.Error()) {
			s.log.Warn("a source cannot be queried, retrying", "source", c.Name, "error", c.err)
		}
	}
}

func (c *client) close() {
	if c.source != nil {
		c.source.Close()
	}
}

// replace returns the grants of a new version of the file. If only the grants of a source differ, the source keeps its client.
func (g grants) replace(content []byte, config Config) (grants, error) {
	listed, err := parse(content, filepath.Dir(config.File), config.PodIdentity)
	if err != nil {
		return nil, err
	}
	next := make(grants, 0, len(listed))
	for i := range listed {
		c := &client{Source: listed[i]}
		if c.revision, err = c.fingerprint(); err != nil {
			return nil, err
		}
		if old := g.named(c.Name); old != nil && old.revision == c.revision && old.err == nil {
			c.source = old.source
		} else {
			c.source, c.err = prometheus.New(c.clientConfig(config.Timeout))
		}
		next = append(next, c)
	}
	return next, nil
}

// named returns the source with a name; nil if there is none.
func (g grants) named(name string) *client {
	if i := slices.IndexFunc(g, func(c *client) bool { return c.Name == name }); i >= 0 {
		return g[i]
	}
	return nil
}

// Grant is a source that a namespace may use.
type Grant struct {
	Source refresh.SourceRef
	// TenantLabel confines the queries.
	TenantLabel string
	// Cluster limits queries to one of several clusters; empty where there is one.
	Cluster string
	// ScrapeInterval is the longest time between two scrapes of a model server; 0 where the source does not say.
	ScrapeInterval time.Duration
}

// ErrNotGranted means that a namespace may not use a source, or has none.
var ErrNotGranted = errors.New("not granted")

// Find returns the source of a name if the namespace was granted it; without a name the first one that it was granted.
// The error does not tell whether there is a source of that name: names of other tenants are not for everyone.
func (s *Sources) Find(name, namespace string) (Grant, error) {
	var own []string
	for _, c := range *s.grants.Load() {
		if !c.granted(namespace) {
			continue
		}
		if name == "" || c.Name == name {
			return Grant{
				Source:      refresh.SourceRef{Name: c.Name, Revision: c.revision},
				TenantLabel: c.TenantLabel, Cluster: c.Cluster, ScrapeInterval: time.Duration(c.ScrapeInterval),
			}, nil
		}
		own = append(own, c.Name)
	}
	const ask = "ask the operator of Forewarm, who grants sources in the --sources-file"
	switch {
	case len(own) > 0:
		return Grant{}, fmt.Errorf("source %w to namespace %s, which can use %s: use one of these, or %s",
			ErrNotGranted, namespace, strings.Join(own, ", "), ask)
	case name == "":
		return Grant{}, fmt.Errorf("namespace %s has no source of history (%w): %s", namespace, ErrNotGranted, ask)
	}
	return Grant{}, fmt.Errorf(
		"source %w to namespace %s, which has no source of history: %s",
		ErrNotGranted,
		namespace,
		ask,
	)
}

// Revision changes when the grants do.
func (s *Sources) Revision() uint64 { return s.revision.Load() }

// Fetch sends a query to its source. The error wraps series.ErrQuery if its namespace was not granted the source, or no
// longer is, and series.ErrUnavailable if the source was changed since the query was made.
func (s *Sources) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	return ask(s, q, func(source *prometheus.Source) (forecast.Series, error) { return source.Fetch(ctx, q) })
}

// FetchByLabel implements [refresh.LabelSource], with the errors of Fetch.
func (s *Sources) FetchByLabel(ctx context.Context, q refresh.Query, label string) (map[string]float64, error) {
	return ask(s, q, func(source *prometheus.Source) (map[string]float64, error) {
		return source.FetchByLabel(ctx, q, label)
	})
}

// SourceClock returns the time by the clock of a source, with the errors of Fetch.
func (s *Sources) SourceClock(ctx context.Context, namespace string, source refresh.SourceRef) (time.Time, error) {
	return ask(s, refresh.Query{Namespace: namespace, Source: source}, func(of *prometheus.Source) (time.Time, error) {
		return of.Clock(ctx)
	})
}

// Batches implements [refresh.Batcher].
func (s *Sources) Batches(queries []refresh.Query) [][]refresh.Query {
	c, err := s.granted(queries[0])
	if err != nil {
		return nil
	}
	return c.source.Batches(queries)
}

// FetchBatch sends a batch to its source, with the errors of Fetch.
func (s *Sources) FetchBatch(ctx context.Context, batch []refresh.Query) ([]refresh.Answer, error) {
	answers, err := ask(s, batch[0], func(source *prometheus.Source) ([]refresh.Answer, error) {
		return source.FetchBatch(ctx, batch)
	})
	for i, a := range answers {
		if a.Err != nil {
			answers[i].Err = fmt.Errorf("source %s: %w", batch[i].Source.Name, a.Err)
		}
	}
	return answers, err
}

// ask sends a query to its source.
func ask[A any](s *Sources, q refresh.Query, fetch func(*prometheus.Source) (A, error)) (answer A, err error) {
	c, err := s.granted(q)
	if err != nil {
		return answer, err
	}
	began := s.config.Now()
	got, err := fetch(c.source)
	s.metrics.answered(c.Name, s.config.Now().Sub(began), err)
	if err != nil {
		return answer, fmt.Errorf("source %s: %w", c.Name, err)
	}
	// An answer is not returned if its grant was revoked after the query was sent.
	if _, err := s.granted(q); err != nil {
		return answer, err
	}
	return got, nil
}

// granted returns the client for a query.
func (s *Sources) granted(q refresh.Query) (*client, error) {
	c := s.grants.Load().named(q.Source.Name)
	switch {
	case c == nil || !c.granted(q.Namespace):
		return nil, fmt.Errorf("source %s: %w to namespace %s: %w", q.Source.Name, ErrNotGranted, q.Namespace,
			series.ErrQuery)
	case c.err != nil:
		return nil, fmt.Errorf("source %s: %w: %w: ask the operator of Forewarm", c.Name, c.err, series.ErrUnavailable)
	case c.revision != q.Source.Revision:
		return nil, fmt.Errorf(
			"source %s was changed, and its history is being read again: %w",
			c.Name,
			series.ErrUnavailable,
		)
	}
	return c, nil
}

// readFile reads a file, at most one byte more than the limit.
func readFile(path string) (content []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // Opening a pipe would block until there is a writer.
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer opened.Close() //nolint:errcheck // Nothing was written.
	return io.ReadAll(io.LimitReader(opened, maxFile+1))
}
