package refresh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Config of the loop. The zero value of a field means its default.
type Config struct {
	// Refit is the time between refits; default 6 h. A shorter one follows a change of pattern sooner and costs more
	// CPU: about 0.2 s for each Forecast of 14 days of minutes, twice that with an objective.
	Refit time.Duration
	// Season is the cycle in which demand repeats, over which models are judged; default 24 h.
	Season time.Duration
	// Concurrency bounds the queries in flight to one source; default 16. PerNamespace bounds the queries of one namespace, so
	// that one tenant's slow queries do not delay the others; default half of Concurrency.
	Concurrency, PerNamespace int
	// Timeout of a query, for every 10,000 points of its range; default 30 s.
	Timeout time.Duration
	// Grace is how long a step waits for its queries before it publishes a snapshot; default 5 s. Later answers are
	// published by a later step.
	Grace time.Duration
	// Span, if set, begins a span of a trace around one refresh of a Forecast, and returns what ends it with the refresh's
	// error; default none.
	Span func(ctx context.Context, key snapshot.Key) (context.Context, func(error))
}

// WithDefaults returns the configuration with defaults in place of zero fields.
func (c Config) WithDefaults() Config {
	set := func(field *time.Duration, value time.Duration) {
		if *field == 0 {
			*field = value
		}
	}
	set(&c.Refit, 6*time.Hour)
	set(&c.Season, windowpeak.Day)
	set(&c.Timeout, 30*time.Second)
	set(&c.Grace, 5*time.Second)
	if c.Span == nil {
		c.Span = func(ctx context.Context, _ snapshot.Key) (context.Context, func(error)) { return ctx, func(error) {} }
	}
	if c.Concurrency == 0 {
		c.Concurrency = 16
	}
	if c.PerNamespace == 0 {
		c.PerNamespace = max(1, c.Concurrency/2)
	}
	return c
}

// Validate returns every problem of a configuration that has its defaults.
func (c Config) Validate() error {
	var problems []error
	for name, d := range map[string]time.Duration{
		"refit": c.Refit, "season": c.Season, "timeout": c.Timeout, "grace": c.Grace,
	} {
		if d <= 0 {
			problems = append(problems, fmt.Errorf("%s %s, want more than 0", name, d))
		}
	}
	if c.Concurrency < 1 || c.PerNamespace < 1 {
		problems = append(problems, fmt.Errorf("concurrency %d, per namespace %d, want 1 or more of each",
			c.Concurrency, c.PerNamespace))
	}
	return errors.Join(problems...)
}

// Clock is the time for Run; Step takes the time as an argument.
type Clock interface {
	Now() time.Time
	// WaitUntil returns at t, or with the context's error.
	WaitUntil(ctx context.Context, t time.Time) error
}
