package writes

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Urgency is how soon the change of a status must be written.
type Urgency int

const (
	// Unchanged: nothing changed.
	Unchanged Urgency = iota
	// Routine: a number or a text changed.
	Routine
	// Urgent: a condition, the state, or what the next steps depend on changed.
	Urgent
)

// class is the class of a write.
type class int

const (
	urgent class = iota
	routine
	refused
	// slow is the class of all writes in a namespace in which a write was slow. These writes come after all others.
	slow
)

// weight is the weight of a class relative to the others. With twice the weight, a write waits half as long.
func (c class) weight() float64 { return [...]float64{urgent: 6, routine: 3, refused: 1, slow: 0}[c] }

// place is the position of an object in the order.
type place[T any] struct {
	item      T
	namespace string
	class     class
	tried     time.Time
	turn      float64
}

// Sort sorts objects into the order of their writes. A namespace's urgent ones come first, then what was tried longest ago, and what was
// refused last. The namespaces take turns, and one with many writes within the last minute waits for those with few: however many objects
// a namespace has, and whatever their writes come to, those of another one are written in time.
func Sort[T any](q *Queue, now time.Time, list []T, of func(T) (object metav1.Object, isUrgent bool)) {
	places := make([]place[T], len(list))
	for i, item := range list {
		object, isUrgent := of(item)
		places[i] = place[T]{
			item:      item,
			namespace: object.GetNamespace(),
			class:     q.classOf(object, isUrgent, now),
			tried:     q.Tried(object, now),
		}
	}
	slices.SortStableFunc(places, func(a, b place[T]) int {
		return cmp.Or(cmp.Compare(a.class, b.class), a.tried.Compare(b.tried))
	})
	turns := map[string]float64{}
	for i := range places {
		p := &places[i]
		if _, known := turns[p.namespace]; !known {
			turns[p.namespace] = q.usage[p.namespace].at(now)
		}
		turns[p.namespace]++
		p.turn = turns[p.namespace] / p.class.weight() // The turn is infinite in slow namespaces.
	}
	slices.SortStableFunc(places, func(a, b place[T]) int { return cmp.Compare(a.turn, b.turn) })
	for i := range places {
		list[i] = places[i].item
	}
}

// usage is how many writes were attempted in a namespace recently.
type usage struct {
	writes float64
	when   time.Time
}

// at returns the usage at a time. Past writes decay: of the writes of a minute ago, a third still counts.
func (u usage) at(now time.Time) float64 {
	return u.writes * math.Exp(-now.Sub(u.when).Abs().Minutes())
}

func (q *Queue) classOf(object metav1.Object, isUrgent bool, now time.Time) class {
	if q.IsSlow(object, now) {
		return slow
	}
	switch r := q.objects[object.GetUID()]; {
	case r != nil && r.refused:
		return refused
	case isUrgent:
		return urgent
	}
	return routine
}

// MarkSlow notes that a write of a namespace was slow. Its writes come last for as long as the longest pause.
func (q *Queue) MarkSlow(namespace string, now time.Time) { q.slow[namespace] = now }

// IsSlow reports whether the writes of an object's namespace come last.
func (q *Queue) IsSlow(object metav1.Object, now time.Time) bool {
	at, ok := q.slow[object.GetNamespace()]
	if ok && now.Sub(at).Abs() >= maxPause {
		delete(q.slow, object.GetNamespace())
		return false
	}
	return ok
}
