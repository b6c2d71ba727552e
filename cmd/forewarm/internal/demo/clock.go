package demo

import (
	"context"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
)

// clock is the one clock of a demo: it begins at a time of the demand, and runs faster than life. The samples, the loop and all
// that is served have its time.
type clock struct {
	life serve.WallClock
	// from is the time that it began at, and began when that was in life.
	from, began time.Time
	speed       float64
}

// startClock begins at a time.
func startClock(at time.Time, speed float64) *clock {
	c := &clock{from: at, speed: speed}
	c.began = c.life.Now()
	return c
}

// Now is the time of the demand.
func (c *clock) Now() time.Time {
	return c.from.Add(time.Duration(float64(c.life.Now().Sub(c.began)) * c.speed))
}

// WaitUntil returns at t or just after it, or with the context's error before.
func (c *clock) WaitUntil(ctx context.Context, t time.Time) error {
	wait := time.Duration(float64(t.Sub(c.from))/c.speed) + 1 // Rounded down, it would be before t.
	return c.life.WaitUntil(ctx, c.began.Add(wait))
}
