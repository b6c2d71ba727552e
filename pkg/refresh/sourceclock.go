package refresh

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Clocked is a Source that tells the time by its own clock. A store gives samples the times of its clock, so if the clocks differ, samples
// look older than they are, or are older than they look.
type Clocked interface {
	Source
	// SourceClock returns the present by the clock of the source that a namespace reads from.
	SourceClock(ctx context.Context, namespace string, source SourceRef) (time.Time, error)
}

// clockInterval is how often the clock of a source is read.
const clockInterval = 5 * time.Minute

// sourceClocks is how far the clocks of the sources are ahead of this machine's, as far as known.
type sourceClocks struct {
	mu    sync.Mutex
	asked map[SourceRef]time.Time
	ahead map[SourceRef]snapshot.ClockDifference
}

// askClocks reads the clocks of the sources where that is due. No step waits for it. Only Run calls it: a replay's time is not the present.
func (l *Loop) askClocks(ctx context.Context, clock Clock, now time.Time) {
	source, ok := l.source.(Clocked)
	if !ok {
		return
	}
	read := map[SourceRef]string{}
	for _, w := range l.workers {
		read[w.job.Source] = w.job.Key.Namespace
	}
	l.clocks.keep(read)
	for ref, namespace := range read {
		if l.clocks.due(ref, now) {
			l.beside.Go(func() { l.readClock(ctx, clock, source, namespace, ref) })
		}
	}
}

// readClock reads the clock of one source.
func (l *Loop) readClock(ctx context.Context, clock Clock, source Clocked, namespace string, ref SourceRef) {
	log := l.log.With("source", ref.Name)
	defer func() {
		if fault := recover(); fault != nil {
			log.ErrorContext(ctx, "reading the clock of a source panicked: please report this", "fault", fault)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, l.config.Timeout)
	defer cancel()
	l.queries.Add(1)
	before := clock.Now()
	at, err := source.SourceClock(ctx, namespace, ref)
	if err != nil {
		log.DebugContext(ctx, "the clock of a source is not known", "error", err)
		return
	}
	difference := snapshot.ClockDifference{Min: at.Sub(clock.Now()), Max: at.Sub(before)}
	ahead := difference.Least()
	last := l.clocks.set(ref, difference).Least()
	if ahead.Abs() > snapshot.MinClockDifference && last.Abs() <= snapshot.MinClockDifference {
		log.WarnContext(ctx, "clocks differ", "difference", clockText(ahead))
	}
}

// due reports whether the clock of a source is to be read, and notes that it is.
func (c *sourceClocks) due(ref SourceRef, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == nil {
		c.asked, c.ahead = map[SourceRef]time.Time{}, map[SourceRef]snapshot.ClockDifference{}
	}
	if last, found := c.asked[ref]; found &&
		now.Sub(last).Abs() < clockInterval { // This machine's clock may have been set back.
		return false
	}
	c.asked[ref] = now
	return true
}

// set notes a difference, and returns the one before.
func (c *sourceClocks) set(ref SourceRef, ahead snapshot.ClockDifference) (before snapshot.ClockDifference) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.ahead[ref] = c.ahead[ref], ahead
	return before
}

// keep forgets all sources but those that are read from.
func (c *sourceClocks) keep(read map[SourceRef]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	other := func(ref SourceRef) bool { _, found := read[ref]; return !found }
	maps.DeleteFunc(c.asked, func(ref SourceRef, _ time.Time) bool { return other(ref) })
	maps.DeleteFunc(c.ahead, func(ref SourceRef, _ snapshot.ClockDifference) bool { return other(ref) })
}

// known returns the differences by the source's name.
func (c *sourceClocks) known() map[string]snapshot.ClockDifference {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]snapshot.ClockDifference, len(c.ahead))
	for ref, ahead := range c.ahead {
		out[ref.Name] = ahead
	}
	return out
}

// explain adds to a Forecast's conditions that the clock of its source differs. An error of the source is another matter, and stays.
func (c *sourceClocks) explain(e *snapshot.ForecastState, t Job) {
	c.mu.Lock()
	ahead := c.ahead[t.Source].Least()
	c.mu.Unlock()
	if ahead.Abs() <= max(t.Step, snapshot.MinClockDifference) {
		return
	}
	text := clockText(ahead)
	for i := range e.Conditions {
		switch o := &e.Conditions[i]; {
		case o.Type == snapshot.ConditionSource && o.True:
			o.True, o.Reason = false, snapshot.ReasonClockDiffers
			o.Message = text + ". " + clockEffect(ahead)
		case o.Type == snapshot.ConditionSource && o.Reason == snapshot.ReasonNoSeries:
			o.Message += "; " + text
		case o.Type == snapshot.ConditionReady && !o.True && ahead < 0 && e.State != snapshot.Invalid:
			o.Message = strings.TrimSuffix(o.Message, "; check the source") + "; " + text
		}
	}
}

// clockText says by how much the clocks differ, and what to do.
func clockText(ahead time.Duration) string {
	side := "ahead of"
	if ahead < 0 {
		side = "behind"
	}
	return fmt.Sprintf("the source's clock is %s %s Forewarm's: synchronize the clocks of both machines (NTP)",
		humanize.Span(ahead.Abs().Round(time.Second)), side)
}

// clockEffect says what a difference does.
func clockEffect(ahead time.Duration) string {
	if ahead < 0 {
		return "Until then the newest samples look that much older than they are"
	}
	return "Until then the newest samples that Forewarm reads are that much older than they look"
}
