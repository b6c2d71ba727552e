package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// byLength is a source whose demand differs by the query.
type byLength struct{ demandSource }

func (s *byLength) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	if out, err := s.demandSource.Fetch(ctx, q); err != nil {
		return out, err
	}
	return answer(q, func(t time.Time) float64 { return s.demand(t) + float64(len(q.Expr)) }), nil
}

// batchingSource answers any queries together, as change has it.
type batchingSource struct {
	byLength

	batches atomic.Int64
	change  func(ctx context.Context, answers []refresh.Answer) error
}

func (*batchingSource) Batches(queries []refresh.Query) [][]refresh.Query {
	seen := map[string]bool{}
	var out []refresh.Query
	for _, q := range queries {
		if !seen[q.Expr] {
			seen[q.Expr] = true
			out = append(out, q)
		}
	}
	if len(out) < 2 {
		return nil
	}
	// Workers come in any order; change counts on that of the jobs.
	slices.SortFunc(out, func(a, b refresh.Query) int { return strings.Compare(a.Expr, b.Expr) })
	return [][]refresh.Query{out}
}

func (b *batchingSource) FetchBatch(ctx context.Context, batch []refresh.Query) ([]refresh.Answer, error) {
	b.batches.Add(1)
	out := make([]refresh.Answer, len(batch))
	for i, q := range batch {
		if q.Namespace != batch[0].Namespace || !q.From.Equal(batch[0].From) || !q.To.Equal(batch[0].To) {
			return nil, fmt.Errorf("a batch of %v and %v", q, batch[0])
		}
		out[i].Series = answer(q, func(t time.Time) float64 { return b.demand(t) + float64(len(q.Expr)) })
	}
	if b.change != nil {
		return out, b.change(ctx, out)
	}
	return out, nil
}

// differentJobs are jobs with queries of their own, in two namespaces; every other one knows saturation.
func differentJobs(n int) fixedJobs {
	jobs := fixedJobs{}
	for i := range n {
		j := jobOf(fmt.Sprintf("model-%d", i))
		j.Key.Namespace = fmt.Sprintf("ns-%d", i%2)
		j.Expr = fmt.Sprintf("%0*d", i+1, i)
		if i%2 == 0 {
			j.SideQueries = refresh.SideQueries{refresh.Saturated: fmt.Sprintf("saturated %0*d", i+1, i)}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func dailyByLength() byLength { return byLength{demandSource{demand: daily}} }

// Asked together, the newest samples lead to the values of each Forecast alone, to the bit; each namespace is asked once a step.
func TestNewestSamplesAreAskedTogether(t *testing.T) {
	jobs := differentJobs(8)
	together := &batchingSource{byLength: dailyByLength()}
	one, _ := newLoop(t, together, jobs)
	each := dailyByLength()
	other, _ := newLoop(t, &each, jobs)
	for i := range 12 {
		now := noon.Add(time.Duration(i) * step)
		together.mu.Lock()
		together.queries = nil
		together.mu.Unlock()
		got, want := one.Step(t.Context(), now), other.Step(t.Context(), now)
		for _, j := range jobs {
			sameBits(t, fmt.Sprintf("step %d, together", i), want.Get(j.Key), got.Get(j.Key))
		}
		if i == 0 {
			continue // The whole history is asked alone.
		}
		if n := together.batches.Swap(0); n != 2 || len(together.queries) != 0 {
			t.Fatalf(
				"step %d: %d batches and %d queries alone, want one batch of each namespace",
				i,
				n,
				len(together.queries),
			)
		}
	}
}

// A batch that fails, answers a part or with errors delays and changes nothing: what it lacks is asked alone.
func TestFailedBatchesAreAskedAlone(t *testing.T) {
	for name, change := range map[string]func(context.Context, []refresh.Answer) error{
		"an error": func(context.Context, []refresh.Answer) error {
			return fmt.Errorf("%w: %w", refresh.ErrNotTogether, series.ErrUnavailable)
		},
		"shorter series": func(_ context.Context, a []refresh.Answer) error {
			a[0].Series.Values = a[0].Series.Values[:0]
			return nil
		},
		"only gaps": func(_ context.Context, a []refresh.Answer) error {
			for i := range a[1].Series.Values {
				a[1].Series.Values[i] = math.NaN()
			}
			return nil
		},
	} {
		jobs := differentJobs(4)
		together := &batchingSource{byLength: dailyByLength(), change: change}
		one, _ := newLoop(t, together, jobs)
		each := dailyByLength()
		other, _ := newLoop(t, &each, jobs)
		for i := range 3 {
			now := noon.Add(time.Duration(i) * step)
			got, want := one.Step(t.Context(), now), other.Step(t.Context(), now)
			for _, j := range jobs {
				sameBits(t, name, want.Get(j.Key), got.Get(j.Key))
			}
		}
	}
}

// While a source answers nothing, one request a namespace and step asks for all, so that it is not what keeps the source busy; the
// first answer has the samples of all. One that failed alone is asked alone until it is answered.
func TestBatchesOfASourceThatIsAway(t *testing.T) {
	jobs := differentJobs(8)
	together := &batchingSource{byLength: dailyByLength()}
	loop, _ := newLoop(t, together, jobs)
	loop.Step(t.Context(), noon)
	stepAt := func(i int) (s *snapshot.Snapshot, batches int64, alone int) {
		together.mu.Lock()
		together.queries = nil
		together.mu.Unlock()
		together.batches.Store(0)
		s = loop.Step(t.Context(), noon.Add(time.Duration(i)*step))
		return s, together.batches.Load(), len(together.queries)
	}
	together.change = func(context.Context, []refresh.Answer) error { return series.ErrUnavailable }
	for i := 1; i <= 3; i++ {
		s, batches, alone := stepAt(i)
		if batches != 2 || alone != 0 {
			t.Fatalf("away, step %d: %d batches and %d queries alone", i, batches, alone)
		}
		if c := condition(t, s.Get(jobs[0].Key), snapshot.ConditionSource); c.True {
			t.Fatalf("away, step %d: SourceHealthy is %+v", i, c)
		}
	}
	together.change = nil
	s, batches, alone := stepAt(4)
	for _, j := range jobs {
		if at := s.Get(j.Key).SampleTime; !at.Equal(noon.Add(3 * step)) {
			t.Errorf("%s has samples until %s", j.Key, at)
		}
	}
	if batches != 2 || alone != 0 {
		t.Fatalf("back: %d batches and %d queries alone", batches, alone)
	}

	together.change = func(context.Context, []refresh.Answer) error { return refresh.ErrNotTogether }
	together.fail = func(q refresh.Query) error {
		if q.Expr == jobs[0].Expr {
			return series.ErrUnavailable
		}
		return nil
	}
	stepAt(5)
	together.change = func(_ context.Context, a []refresh.Answer) error {
		if len(a) == 8 { // Four Forecasts that know saturation.
			t.Error("what failed alone is in a batch")
		}
		return nil
	}
	if _, batches, alone = stepAt(6); batches != 2 || alone != 1 {
		t.Errorf("one failed alone: %d batches and %d queries alone", batches, alone)
	}
}

// A series that is not there is told to the Forecast that asked for it alone.
func TestBatchWithoutASeries(t *testing.T) {
	jobs := differentJobs(2)
	for i := range jobs {
		jobs[i].Key.Namespace, jobs[i].SideQueries = "ns", nil
	}
	together := &batchingSource{byLength: dailyByLength()}
	loop, _ := newLoop(t, together, jobs)
	loop.Step(t.Context(), noon)
	together.change = func(_ context.Context, a []refresh.Answer) error {
		a[0] = refresh.Answer{Err: fmt.Errorf("x: %w", series.ErrNoSeries)}
		return nil
	}
	together.fail = func(refresh.Query) error { return errors.New("asked alone") }
	s := loop.Step(t.Context(), noon.Add(step))
	for i, j := range jobs {
		c := condition(t, s.Get(j.Key), snapshot.ConditionSource)
		if gone := c.Reason == snapshot.ReasonNoSeries; gone != (i == 0) {
			t.Errorf("%s: SourceHealthy is %+v", j.Key, c)
		}
	}
}

// A batch that hangs holds up no other namespace, and its own Forecasts no longer than two queries of their own would.
func TestHangingBatchHoldsUpNoOtherNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := differentJobs(4)
		together := &batchingSource{byLength: dailyByLength()}
		loop, _ := loopWith(t, refresh.Config{Timeout: 20 * time.Second}, together, jobs)
		now := noon
		loop.Step(t.Context(), now)
		var hung atomic.Bool
		together.change = func(ctx context.Context, _ []refresh.Answer) error {
			if hung.Swap(true) {
				return nil
			}
			<-ctx.Done()
			return fmt.Errorf("%w: %w", refresh.ErrNotTogether, ctx.Err())
		}
		now = now.Add(step)
		s := loop.Step(t.Context(), now)
		fresh := map[string]int{}
		for _, j := range jobs {
			if s.Get(j.Key).SampleTime.Equal(now.Add(-step)) {
				fresh[j.Key.Namespace]++
			}
		}
		if len(fresh) != 1 {
			t.Fatalf("fresh Forecasts by namespace: %v, want those of one", fresh)
		}
		time.Sleep(45 * time.Second)
		s = loop.Step(t.Context(), now.Add(45*time.Second))
		for _, j := range jobs {
			if !s.Get(j.Key).SampleTime.Equal(now.Add(-step)) {
				t.Errorf("%s has samples until %s", j.Key, s.Get(j.Key).SampleTime)
			}
		}
	})
}
