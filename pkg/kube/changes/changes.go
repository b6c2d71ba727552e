// Package changes notifies listeners that something has changed. It does not say what: listeners read the new state themselves.
package changes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/forewarm/forewarm/pkg/run"
)

// Feed notifies its listeners of changes. The zero Feed has none. It is safe for concurrent use.
type Feed struct {
	mu        sync.Mutex
	listeners []dynamiccertificates.Listener
}

var _ dynamiccertificates.Notifier = (*Feed)(nil)

// AddListener implements dynamiccertificates.Notifier.
func (f *Feed) AddListener(listener dynamiccertificates.Listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners = append(f.listeners, listener)
}

// Subscribe notifies a signal until the context ends.
func (f *Feed) Subscribe(ctx context.Context, signal Signal) {
	f.AddListener(signal)
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.listeners = slices.DeleteFunc(f.listeners, func(l dynamiccertificates.Listener) bool { return l == signal })
	})
}

// Notify tells every listener.
func (f *Feed) Notify() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.listeners {
		one.Enqueue()
	}
}

// Signal holds at most one notification, of one Feed or of several.
type Signal chan struct{}

// NewSignal returns a Signal without a notification.
func NewSignal() Signal { return make(Signal, 1) }

// Enqueue implements dynamiccertificates.Listener.
func (s Signal) Enqueue() {
	select {
	case s <- struct{}{}:
	default: // A notification is already pending.
	}
}

// LastError is the error of the newest of several attempts, so that a cause that lasts is logged once.
type LastError string

// IsNew records the outcome of an attempt, and reports whether it is an error that the attempt before did not have.
func (l *LastError) IsNew(err error) bool {
	before := *l
	*l = LastError(fmt.Sprint(err))
	return err != nil && *l != before
}

// Repeat takes a step, and another one an interval after its end, until the context ends. It reports an error that the
// step before did not have.
func Repeat(
	ctx context.Context, clock run.Clock, interval time.Duration, step func(now time.Time) error, report func(error),
) {
	var last LastError
	for {
		if err := step(clock.Now()); last.IsNew(err) && ctx.Err() == nil {
			report(err)
		}
		if clock.WaitUntil(ctx, clock.Now().Add(interval)) != nil {
			return
		}
	}
}

// Wait returns at a notification, at a time, or when the context ends.
func (s Signal) Wait(ctx context.Context, clock run.Clock, until time.Time) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	due := make(chan struct{})
	go func() {
		defer close(due)
		_ = clock.WaitUntil(waiting, until) //nolint:errcheck // It ends early by stop only.
	}()
	select {
	case <-due:
	case <-s:
	}
}
