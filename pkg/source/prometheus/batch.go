package prometheus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

const (
	// maxParts limits how many queries are combined in one request.
	maxParts = 64
	// After a request without an answer, the number is divided by fewerBy for the next fewerTimes requests.
	fewerBy, fewerTimes = 4, 20
)

var _ refresh.Batcher = (*Source)(nil)

// Batches groups queries that a single request can answer, at least two in each batch, and omits the others. All queries must have the
// same namespace, source, range and step.
func (s *Source) Batches(queries []refresh.Query) [][]refresh.Query {
	type part struct {
		of    *promexpr.Part
		query refresh.Query
	}
	var parts []part
	for _, q := range queries {
		if of := s.splits.of(q.Expr); of != nil {
			parts = append(parts, part{of, q})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(a.of.Compare(b.of.Template), cmp.Compare(a.of.ID, b.of.ID))
	})
	parts = slices.CompactFunc(parts, func(a, b part) bool { return *a.of == *b.of }) // The same query is sent once.
	var batches [][]refresh.Query
	for len(parts) > 0 {
		of := parts[0].of.Template
		end := len(parts)
		if other := slices.IndexFunc(parts, func(p part) bool { return p.of.Template != of }); other > 0 {
			end = other
		}
		alike := parts[:end]
		parts = parts[end:]
		if len(alike) < 2 {
			continue
		}
		for together := range slices.Chunk(alike, s.sizes.next(of)) {
			batch := make([]refresh.Query, len(together))
			for i, p := range together {
				batch[i] = p.query
			}
			batches = append(batches, batch)
		}
	}
	return slices.DeleteFunc(batches, func(b []refresh.Query) bool { return len(b) < 2 })
}

// FetchBatch answers a batch of [Source.Batches] with one request. If the request fails, FetchBatch sends one of the queries alone. If
// that query succeeds, the error wraps [refresh.ErrNotTogether], and batches are smaller for a while. If it fails, the server is down
// or overloaded, and sending the queries one by one would make it worse.
func (s *Source) FetchBatch(ctx context.Context, batch []refresh.Query) ([]refresh.Answer, error) {
	answers, err := s.fetchBatch(ctx, batch)
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return answers, err
	}
	one := batch[int(s.probes.Add(1)%uint64(len(batch)))] // Queries take turns, because one of them may be the slow one.
	if _, alone := s.Fetch(ctx, one); errors.Is(alone, series.ErrUnavailable) {
		return nil, err
	}
	s.sizes.lower(s.splits.of(one.Expr).Template, len(batch))
	return nil, fmt.Errorf("%w: %w", refresh.ErrNotTogether, err)
}

func (s *Source) fetchBatch(ctx context.Context, batch []refresh.Query) ([]refresh.Answer, error) {
	parts, at := make([]promexpr.Part, len(batch)), make(map[string]int, len(batch))
	for i, q := range batch {
		parts[i] = *s.splits.of(q.Expr)
		at[parts[i].ID] = i
	}
	if len(at) < len(batch) {
		return nil, fmt.Errorf(
			"%s: two of %d batched queries have the same hash: %w",
			s.name,
			len(batch),
			series.ErrQuery,
		)
	}
	q := batch[0]
	q.Expr = promexpr.Join(parts)
	if err := s.check(q); err != nil {
		return nil, err
	}
	matrix, err := s.request(ctx, q, q.Gaps(), len(parts))
	if err != nil {
		return nil, err
	}
	answers := make([]refresh.Answer, len(batch))
	for _, stream := range matrix {
		i, known := at[string(stream.Metric[promexpr.PartLabel])]
		if !known || len(stream.Metric) != 1 || answers[i].Series.Values != nil {
			return nil, s.unavailable(
				"the response to several batched queries has a series %s that belongs to none of them",
				s.clip(stream.Metric.String()),
			)
		}
		answers[i].Series = q.Gaps()
		if err = s.fillGrid(answers[i].Series, stream); err != nil {
			return nil, err
		}
	}
	for i := range answers {
		if answers[i].Series.Values == nil {
			answers[i].Err = s.noSeries(batch[i])
		}
	}
	return answers, nil
}

// sizes has, for each template, how many queries are combined in one request if that is fewer than maxParts.
type sizes struct {
	mu    sync.Mutex
	fewer map[promexpr.Template]size
}

// size is the number of parts for the next requests, and the number of requests for which it still applies.
type size struct{ parts, times int }

// next returns how many queries of a template the next request combines.
func (s *sizes) next(t promexpr.Template) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, ok := s.fewer[t]
	if !ok {
		return maxParts
	}
	switch {
	case now.times > 1:
		s.fewer[t] = size{now.parts, now.times - 1}
	case now.parts*fewerBy < maxParts:
		s.fewer[t] = size{now.parts * fewerBy, fewerTimes}
	default:
		delete(s.fewer, t)
	}
	return now.parts
}

// lower records that a request with this number of parts was not answered.
func (s *sizes) lower(t promexpr.Template, parts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fewer == nil {
		s.fewer = map[promexpr.Template]size{}
	}
	s.fewer[t] = size{max(1, parts/fewerBy), fewerTimes}
}

// splits caches how queries are split, because parsing a query takes longer than sending it.
type splits struct {
	mu    sync.Mutex
	known map[string]*promexpr.Part
}

// maxSplits limits the memory. An entry takes some hundred bytes.
const maxSplits = 50_000

// of returns how a query is split; nil if it cannot be split.
func (s *splits) of(expr string) *promexpr.Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[expr]; ok {
		return known
	}
	if s.known == nil || len(s.known) >= maxSplits {
		s.known = map[string]*promexpr.Part{}
	}
	s.known[expr] = nil
	if made, ok := promexpr.Split(expr); ok {
		s.known[expr] = &made
	}
	return s.known[expr]
}
