package informer

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// Bound limits how many objects of each namespace are kept. Of the others only stubs are, so that a namespace with any number of
// objects costs little.
type Bound[T any] struct {
	// Limit of a namespace; 0 for none. It must not change after Run.
	Limit int
	// Compare orders the objects of a namespace: the first are kept. Where it returns 0, the names decide.
	Compare func(a, b *T) int
	// Stub returns what is kept of an object beyond the limit.
	Stub func(kept *T) *T
	// Get reads an object again: one that is within the limit after another one was deleted.
	Get func(ctx context.Context, namespace, name string) (runtime.Object, error)
}

// ranking sorts the items of each namespace in the order of a Bound.
type ranking[T any] struct {
	bound  *Bound[T]
	keys   map[string]*item[T]
	places map[string][]*item[T]
}

func newRanking[T any](bound *Bound[T]) *ranking[T] {
	return &ranking[T]{bound: bound, keys: map[string]*item[T]{}, places: map[string][]*item[T]{}}
}

func (r *ranking[T]) compare(a, b *item[T]) int {
	return cmp.Or(r.bound.Compare(a.kept, b.kept), strings.Compare(a.key, b.key))
}

func namespaceOf(key string) string {
	namespace, _, _ := strings.Cut(key, "/")
	return namespace
}

func (r *ranking[T]) remove(key string) {
	i := r.keys[key]
	if i == nil {
		return
	}
	delete(r.keys, key)
	namespace := namespaceOf(key)
	at, found := slices.BinarySearchFunc(r.places[namespace], i, r.compare)
	if !found {
		return
	}
	if r.places[namespace] = slices.Delete(r.places[namespace], at, at+1); len(r.places[namespace]) == 0 {
		delete(r.places, namespace)
	}
}

// put adds an item to the ranking. An item beyond the limit becomes a stub. If the new item displaces another one, put returns that item,
// which is now a stub; otherwise nil.
func (r *ranking[T]) put(i *item[T]) (displaced *item[T]) {
	r.remove(i.key)
	if i.kept == nil {
		return nil
	}
	namespace := namespaceOf(i.key)
	at, _ := slices.BinarySearchFunc(r.places[namespace], i, r.compare)
	places := slices.Insert(r.places[namespace], at, i)
	r.places[namespace], r.keys[i.key] = places, i
	switch limit := r.bound.Limit; {
	case limit == 0:
	case at >= limit:
		r.stub(i)
	case len(places) > limit && r.stub(places[limit]):
		return places[limit]
	}
	return nil
}

// stub turns an item into a stub. It returns false if the item already was one.
func (r *ranking[T]) stub(i *item[T]) bool {
	if i.stub {
		return false
	}
	i.kept, i.stub = r.bound.Stub(i.kept), true
	return true
}

// missing returns the stubs that are now within the limit.
func (r *ranking[T]) missing() (out []item[T]) {
	for _, places := range r.places {
		for _, i := range places[:min(len(places), r.bound.Limit)] {
			if i.stub {
				out = append(out, *i)
			}
		}
	}
	return out
}

// lacks reports whether the item in the last place within the limit is a stub.
func (r *ranking[T]) lacks(namespace string) bool {
	places := r.places[namespace]
	last := min(len(places), r.bound.Limit) - 1
	return last >= 0 && places[last].stub
}

// fill reads the objects that came within the limit because others were deleted. It runs until the context ends.
func (w *Watch[T]) fill(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.lacking:
		}
		w.changing.Lock()
		missing := w.ranks.missing()
		w.changing.Unlock()
		failed := false
		for n := range missing {
			failed = w.get(ctx, &missing[n]) != nil || failed
		}
		if failed {
			clock.RealClock{}.AfterFunc(w.config.Retry, w.lacking.Enqueue)
		}
	}
}

// get reads the object of a stub. If the answer has another version than the stub, it is ignored: the watch already has the newer version,
// or will receive it.
func (w *Watch[T]) get(ctx context.Context, stub *item[T]) error {
	const timeout = 10 * time.Second
	own, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	namespace, name, err := cache.SplitMetaNamespaceKey(stub.key)
	if err != nil {
		return err
	}
	object, err := w.config.Bound.Get(own, namespace, name)
	if err != nil {
		return err
	}
	found, err := w.read(object)
	if err != nil {
		return err
	}
	w.changing.Lock()
	defer w.changing.Unlock()
	if now := w.ranks.keys[stub.key]; now != nil && now.stub && now.version == found.version {
		w.change(found)
	}
	return nil
}
