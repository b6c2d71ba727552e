package starts

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/leadtime"
)

// store takes what a watch says of pods. It keeps their lives alone: nobody asks for a pod.
type store struct {
	*follower
}

var _ cache.ReflectorStore = store{}

// Add implements cache.ReflectorStore.
func (s store) Add(item any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe(item)
	return nil
}

// Update implements cache.ReflectorStore.
func (s store) Update(item any) error { return s.Add(item) }

// Delete implements cache.ReflectorStore.
func (s store) Delete(item any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := item.(*corev1.Pod); ok {
		s.firsts.Forget(string(p.UID))
	}
	return nil
}

// Replace implements cache.ReflectorStore: what is not in the list went while nobody watched. The others are met again as
// they are now, so one that became ready in between is found.
func (s store) Replace(items []any, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.fault = true, nil
	before := s.firsts
	s.firsts = make(leadtime.Firsts, len(items))
	for _, item := range items {
		p, ok := item.(*corev1.Pod)
		if !ok {
			continue
		}
		if life, known := before[string(p.UID)]; known {
			s.firsts[string(p.UID)] = life
		}
		s.observe(p)
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (store) Resync() error { return nil }

// observe looks at a pod, with the lock held.
func (s store) observe(item any) {
	p, ok := item.(*corev1.Pod)
	if !ok || !owns(s.workload, p) {
		return
	}
	if start, first := s.firsts.Observe(see(p)); first {
		s.recent.Add(start)
	}
}
