package writes

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// class of a write.
type class int

const (
	urgent class = iota
	routine
	refused
	// slow are the writes of a namespace in which a write was slow. They come after all others.
	slow
)

// share is a class's part of ten writes, while all classes have some. What a class leaves is for the others.
func (c class) share() float64 { return [...]float64{urgent: 6, routine: 3, refused: 1, slow: 0}[c] }

// place is where an object is in the order.
type place[T any] struct {
	item      T
	namespace string
	class     class
	tried     time.Time
	// round is how many of its namespace and class are before it; turn is by the share of its class.
	round int
	turn  float64
}

// Sort sorts objects into the order of their writes. Urgent ones come first, but leave a part to the others. Within a class the
// namespaces take turns. Within a namespace, what was tried longest ago comes first.
func Sort[T any](q *Queue, now time.Time, list []T, of func(T) (object metav1.Object, isUrgent bool)) {
	places := make([]place[T], len(list))
	for i, item := range list {
		object, isUrgent := of(item)
		places[i] = place[T]{
			item: item, namespace: object.GetNamespace(), class: q.classOf(object, isUrgent, now), tried: q.Tried(object, now),
		}
	}
	slices.SortStableFunc(places, func(a, b place[T]) int { return a.tried.Compare(b.tried) })
	type part struct {
		namespace string
		class     class
	}
	rounds := map[part]int{}
	for i := range places {
		own := part{places[i].namespace, places[i].class}
		places[i].round = rounds[own]
		rounds[own]++
	}
	slices.SortStableFunc(places, func(a, b place[T]) int { return cmp.Compare(a.round, b.round) })
	var before [slow + 1]float64
	for i := range places {
		c := places[i].class
		before[c]++
		places[i].turn = before[c] / c.share()
		if c == slow {
			places[i].turn = math.Inf(1)
		}
	}
	slices.SortStableFunc(places, func(a, b place[T]) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.class, b.class)) })
	for i := range places {
		list[i] = places[i].item
	}
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
