package workloads

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
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
	if p, ok := item.(*corev1.Pod); ok {
		s.observe(p)
	}
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
		delete(s.living, p.UID)
	}
	return nil
}

// Replace implements cache.ReflectorStore.
func (s store) Replace(items []any, _ string) error {
	s.replace(items)
	return nil
}

// Resync implements cache.ReflectorStore.
func (store) Resync() error { return nil }

// replace takes a list: what is not in it went while nobody watched. The others are met again as they are now, so one that
// became ready in between is found.
func (f *follower) replace(items []any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed, f.fault = true, nil
	f.living, f.asked = map[types.UID]place{}, false
	before := f.firsts
	f.firsts = make(leadtime.Firsts, min(len(items), leadtime.MaxPods))
	for _, item := range items {
		p, ok := item.(*corev1.Pod)
		if !ok {
			continue
		}
		if life, known := before[string(p.UID)]; known {
			f.firsts[string(p.UID)] = life
		}
		f.observe(p)
	}
}

// observe looks at a pod, with the lock held.
func (f *follower) observe(p *corev1.Pod) {
	if !owns(f.workload, p) {
		return
	}
	seen := see(p)
	if seen.Over {
		delete(f.living, p.UID)
	} else {
		f.lives(p.UID, placeOf(p))
	}
	if start, first := f.firsts.Observe(seen); first {
		f.recent.Add(start)
	}
}

// lives takes down that a pod lives and whether it has a place, with the lock held. Those beyond MaxPods are not counted;
// should the counted ones go, the scale tells that there are others.
func (f *follower) lives(uid types.UID, at place) {
	if _, known := f.living[uid]; !known && len(f.living) >= leadtime.MaxPods {
		return
	}
	f.living[uid] = at
	// What the scale said before is of no use when this one goes.
	f.asked = false
}
