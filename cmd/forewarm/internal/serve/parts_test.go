package serve_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/manifest"
)

func wait(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func TestPartsStopTogether(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		end   time.Duration
		parts []serve.Part
		want  string
	}{
		{"the context ends: no error", time.Second, []serve.Part{{Name: "a", Run: wait}, {Name: "b", Run: wait}}, ""},
		{
			"a part's error while stopping is no failure", time.Second,
			[]serve.Part{{Name: "a", Run: func(ctx context.Context) error { <-ctx.Done(); return broken }}},
			"",
		},
		{
			"one fails: the others stop", time.Hour,
			[]serve.Part{{Name: "a", Run: wait}, {Name: "b", Run: func(context.Context) error { return broken }}},
			"b: broken",
		},
		{
			"one ends: the others stop", time.Hour,
			[]serve.Part{{Name: "a", Run: wait}, {Name: "b", Run: func(context.Context) error { return nil }}},
			"b ended by itself",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.end)
				defer cancel()
				var text string
				if err := serve.RunParts(ctx, slog.New(slog.DiscardHandler), c.parts...); err != nil {
					text = err.Error()
				}
				if text != c.want {
					t.Errorf("error %q, want %q", text, c.want)
				}
			})
		})
	}
}

func TestClockWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock serve.WallClock
		begun := clock.Now()
		if err := clock.WaitUntil(t.Context(), begun.Add(time.Minute)); err != nil ||
			clock.Now().Sub(begun) != time.Minute {
			t.Errorf("waited %v (%v), want a minute", clock.Now().Sub(begun), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := clock.WaitUntil(ctx, clock.Now().Add(time.Hour))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		if err := clock.WaitUntil(t.Context(), begun); err != nil {
			t.Errorf("what is over gives %v", err)
		}
	})
}

func TestCatalogueConfines(t *testing.T) {
	const query = `sum(rate(http_requests_total[1m]))`
	catalogue := serve.Catalogue{Label: "ns", Free: []string{"platform"}}
	source, err := catalogue.Source("", "team-a")
	if err != nil {
		t.Fatal(err)
	}
	confined, err := catalogue.Confine(query, "team-a", source)
	if err != nil || !strings.Contains(confined.Expr, `ns="team-a"`) || !confined.Rate {
		t.Errorf("team-a asks %+v (%v), want its own namespace's rate", confined, err)
	}
	free, err := catalogue.Confine(query, "platform", source)
	if err != nil || free.Expr != query || !free.Rate {
		t.Errorf("platform asks %+v (%v), want the query as it is", free, err)
	}
	for _, namespace := range []string{"team-a", "platform"} {
		if got, err := catalogue.Confine("sum(", namespace, source); err == nil {
			t.Errorf("%s may ask %+v, want an error", namespace, got)
		}
	}
	if got, err := catalogue.Source("team-b", "team-a"); err == nil {
		t.Errorf("where there is one source, team-b's is %+v", got)
	}
	own := manifest.Source{TenantLabel: "tenant"}
	if got, err := catalogue.Confine(query, "team-a", own); err != nil ||
		!strings.Contains(got.Expr, `{tenant="team-a"}`) {
		t.Errorf("in a source of its own team-a asks %+v (%v), want by the label of the source", got, err)
	}
}
