package refresh

import (
	"context"
	"sync"
)

// slots bounds the queries in flight, in total and per namespace.
type slots struct {
	all          chan struct{}
	perNamespace int
	mu           *sync.Mutex
	namespaces   map[string]chan struct{}
}

func newSlots(all, perNamespace int) slots {
	return slots{
		all: make(chan struct{}, all), perNamespace: perNamespace,
		mu: new(sync.Mutex), namespaces: make(map[string]chan struct{}),
	}
}

// acquire waits for a slot of the namespace, then for one of the total. In this order a namespace that has reached its
// own bound takes no slot from the others.
func (s slots) acquire(ctx context.Context, namespace string) (release func(), err error) {
	own := s.ofNamespace(namespace)
	for _, slot := range []chan struct{}{own, s.all} {
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			if slot == s.all {
				<-own
			}
			return nil, ctx.Err()
		}
	}
	return func() { <-s.all; <-own }, nil
}

func (s slots) ofNamespace(namespace string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.namespaces[namespace] == nil {
		s.namespaces[namespace] = make(chan struct{}, s.perNamespace)
	}
	return s.namespaces[namespace]
}
