package refresh

import (
	"context"
	"sync"
)

// slots bounds the queries in flight, for each source and for each namespace. A source that hangs, and the namespaces that
// read from it, take no slots from the others.
type slots struct {
	perSource, perNamespace int

	mu *sync.Mutex
	// taken has a channel for each source and each namespace.
	taken map[slotKey]chan struct{}
}

// slotKey is a source, or a namespace.
type slotKey struct{ source, namespace string }

func newSlots(perSource, perNamespace int) slots {
	return slots{
		perSource: perSource, perNamespace: perNamespace,
		mu: new(sync.Mutex), taken: make(map[slotKey]chan struct{}),
	}
}

// acquire waits for a slot of the namespace, then for one of the source. In this order a namespace that has reached its
// own bound takes no slot from the others.
func (s slots) acquire(ctx context.Context, namespace, source string) (release func(), err error) {
	own := s.of(slotKey{namespace: namespace}, s.perNamespace)
	all := s.of(slotKey{source: source}, s.perSource)
	for _, slot := range []chan struct{}{own, all} {
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			if slot == all {
				<-own
			}
			return nil, ctx.Err()
		}
	}
	return func() { <-all; <-own }, nil
}

func (s slots) of(key slotKey, size int) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key] == nil {
		s.taken[key] = make(chan struct{}, size)
	}
	return s.taken[key]
}
