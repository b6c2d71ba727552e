package neighbours_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// groupWatch counts the placed pods of each PodGroup at every event.
type groupWatch struct {
	mu sync.Mutex
	// placed are the pods on nodes, by the group's namespace and name.
	placed map[string]map[types.UID]bool
	// partly is since when a group has some of its pods on nodes, but not all; longest is the longest such time of each.
	partly  map[string]time.Time
	longest map[string]time.Duration
}

func watchGroups(t *testing.T, s *stage) *groupWatch {
	t.Helper()
	w := &groupWatch{
		placed: map[string]map[types.UID]bool{}, partly: map[string]time.Time{}, longest: map[string]time.Duration{},
	}
	grouped := metav1.ListOptions{LabelSelector: "scheduling.x-k8s.io/pod-group"}
	events, err := s.client.CoreV1().Pods("").Watch(t.Context(), grouped)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for e := range events.ResultChan() {
			if p, ok := e.Object.(*corev1.Pod); ok {
				w.note(p, e.Type != watch.Deleted && p.DeletionTimestamp == nil && p.Spec.NodeName != "")
			}
		}
	}()
	return w
}

// size is that of a group.
func size(group string) int {
	if strings.HasPrefix(group, groups+"/") {
		return 2
	}
	return 3
}

func (w *groupWatch) note(p *corev1.Pod, placed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	group := p.Namespace + "/" + p.Labels["scheduling.x-k8s.io/pod-group"]
	if w.placed[group] == nil {
		w.placed[group] = map[types.UID]bool{}
	}
	w.placed[group][p.UID] = true
	if !placed {
		delete(w.placed[group], p.UID)
	}
	w.close(group)
	if n := len(w.placed[group]); w.partly[group].IsZero() && n > 0 && n < size(group) {
		w.partly[group] = time.Now()
	} else if n == 0 || n >= size(group) {
		delete(w.partly, group)
	}
}

// close counts the time for which a group is partly placed until now.
func (w *groupWatch) close(group string) {
	if from := w.partly[group]; !from.IsZero() {
		w.longest[group] = max(w.longest[group], time.Since(from))
	}
}

// waitGroups waits until so many pods of each group are placed.
func (s *gangs) waitGroups(t *testing.T, want map[string]int) {
	t.Helper()
	clustertest.MustEventually(t, func() string {
		s.groupWatch.mu.Lock()
		defer s.groupWatch.mu.Unlock()
		for group, n := range want {
			if got := len(s.placed[group]); got != n {
				return fmt.Sprintf("%s: %d pods are placed, want %d", group, got, n)
			}
		}
		return ""
	})
	s.log(t, "placed: %v", want)
}

// settled bounds for how long a group may be partly placed: its pods are bound, preempted and deleted one after the other.
const settled = 10 * time.Second

// assertWhole: no group was partly placed for longer than it takes to bind its pods, or to delete them.
func (s *gangs) assertWhole(t *testing.T) {
	t.Helper()
	s.groupWatch.mu.Lock()
	defer s.groupWatch.mu.Unlock()
	for group := range maps.Keys(s.placed) {
		s.close(group)
	}
	s.log(t, "partly placed at the longest: %v", s.longest)
	for group, d := range s.longest {
		if d > settled {
			t.Errorf("%s was partly placed for %s", group, d)
		}
	}
}
