package informer

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// reader has the client's methods for one resource.
type reader[L any] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// From returns the objects of a client's resource that a field selector matches, all if it is empty. The client itself shows
// whether it can stream a list.
func From[L runtime.Object](resource reader[L], client any, fields string) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = fields
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = fields
			return resource.Watch(ctx, options)
		},
	}, client)
}

// UnfinishedPods selects the pods that have not ended, because a namespace may have thousands of finished pods of Jobs.
const UnfinishedPods = "status.phase!=Succeeded,status.phase!=Failed"

// item is a stored value on its way into the store. It is a runtime.Object, so that a list can contain it.
type item[T any] struct {
	key, version string
	kept         *T
	// stub is true if kept is a stub, see Bound.
	stub bool
}

func (*item[T]) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

func (i *item[T]) DeepCopyObject() runtime.Object { return i }

// read parses an object, unless it has been parsed already.
func (w *Watch[T]) read(found any) (*item[T], error) {
	if i, ok := found.(*item[T]); ok {
		return i, nil
	}
	object, ok := found.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("%T is not an object", found)
	}
	named, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	kept := w.parse(object)
	named.SetManagedFields(nil)
	return &item[T]{
		key: cache.MetaObjectToName(named).String(), version: named.GetResourceVersion(), kept: kept,
	}, nil
}

// readListed reads an object of a list. Before the list is complete, no more objects are stored than the Bound allows.
func (w *Watch[T]) readListed(found any) (*item[T], error) {
	i, err := w.read(found)
	if err == nil && w.listing != nil {
		w.listing.put(i)
	}
	return i, err
}

// pages returns a source that reads lists page by page.
//
// An API server from 1.34 on streams a list instead: see Transformer.
func (w *Watch[T]) pages() cache.ListerWatcher {
	source := cache.ToListerWatcherWithContext(w.source)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			if options.ResourceVersion == "0" {
				options.ResourceVersion = "" // If a list may have any version, an API server sends all objects on one page.
			}
			page, err := source.ListWithContext(ctx, options)
			if err != nil {
				return nil, err
			}
			return w.readPage(page)
		},
		WatchFuncWithContext: source.WatchWithContext,
	}, w.source)
}

func (w *Watch[T]) readPage(page runtime.Object) (*internalversion.List, error) {
	from, err := meta.ListAccessor(page)
	if err != nil {
		return nil, err
	}
	out := &internalversion.List{ListMeta: metav1.ListMeta{
		ResourceVersion:    from.GetResourceVersion(),
		Continue:           from.GetContinue(),
		RemainingItemCount: from.GetRemainingItemCount(),
	}}
	return out, meta.EachListItem(page, func(object runtime.Object) error {
		i, err := w.readListed(object)
		out.Items = append(out.Items, i)
		return err
	})
}

// A Watch is its reflector's own store.
var _ interface {
	cache.ReflectorStore
	cache.TransformingStore
} = (*Watch[int])(nil)

// Transformer implements cache.TransformingStore: the reflector reads by it each object of a list that is streamed.
func (w *Watch[T]) Transformer() cache.TransformFunc {
	return func(found any) (any, error) { return w.readListed(found) }
}

// Add implements cache.ReflectorStore.
func (w *Watch[T]) Add(found any) error {
	i, err := w.read(found)
	if err != nil {
		return err
	}
	w.changing.Lock()
	defer w.changing.Unlock()
	w.change(i)
	return nil
}

// Update implements cache.ReflectorStore.
func (w *Watch[T]) Update(found any) error { return w.Add(found) }

// Delete implements cache.ReflectorStore.
func (w *Watch[T]) Delete(found any) error {
	key, err := cache.MetaNamespaceKeyFunc(found)
	if err != nil {
		return err
	}
	w.changing.Lock()
	defer w.changing.Unlock()
	w.change(&item[T]{key: key})
	return nil
}

// Replace implements cache.ReflectorStore. A list clears the problem.
func (w *Watch[T]) Replace(found []any, _ string) error {
	list, problems := make([]*item[T], len(found)), make([]error, len(found))
	for i := range found {
		list[i], problems[i] = w.read(found[i])
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	w.replace(list)
	w.mu.Lock()
	w.tried, w.synced, w.listed, w.problem = true, true, true, nil
	w.mu.Unlock()
	if w.config.Listed != nil {
		w.config.Listed()
	}
	return nil
}

func (w *Watch[T]) replace(list []*item[T]) {
	w.changing.Lock()
	defer w.changing.Unlock()
	gone := map[string]bool{}
	w.mu.Lock()
	for key := range w.kept {
		gone[key] = true
	}
	w.mu.Unlock()
	if w.ranks != nil {
		w.ranks = newRanking(w.config.Bound)
		for _, i := range list {
			w.ranks.put(i)
		}
	}
	w.beginList()
	for _, i := range list {
		delete(gone, i.key)
	}
	for key := range gone {
		w.set(key, nil)
	}
	for _, i := range list {
		w.set(i.key, i.kept)
	}
	if w.ranks != nil {
		w.lacking.Enqueue() // An object may have been deleted while the list was streamed.
	}
}

// beginList drops a list that was not completed.
func (w *Watch[T]) beginList() {
	if w.ranks != nil {
		w.listing = newRanking(w.config.Bound)
	}
}

// change stores the new value of an object. It also updates the other objects of the namespace that this affects.
func (w *Watch[T]) change(i *item[T]) {
	if w.ranks == nil {
		w.set(i.key, i.kept)
		return
	}
	displaced := w.ranks.put(i)
	if displaced != nil {
		w.set(displaced.key, displaced.kept)
	}
	w.set(i.key, i.kept)
	if w.ranks.lacks(namespaceOf(i.key)) {
		w.lacking.Enqueue()
	}
}

// Resync implements cache.ReflectorStore.
func (*Watch[T]) Resync() error { return nil }

// set replaces the stored value of an object; nil removes it.
func (w *Watch[T]) set(key string, after *T) {
	w.mu.Lock()
	before := w.kept[key]
	for _, value := range w.values(before) {
		delete(w.index[value], key)
		if len(w.index[value]) == 0 {
			delete(w.index, value)
		}
	}
	delete(w.kept, key)
	for _, value := range w.values(after) {
		if w.index[value] == nil {
			w.index[value] = map[string]*T{}
		}
		w.index[value][key] = after
	}
	if after != nil {
		w.kept[key] = after
	}
	w.mu.Unlock()
	if w.config.Changed != nil && (before != nil || after != nil) {
		w.config.Changed(before, after)
	}
}

// values returns the keys under which the index stores a value.
func (w *Watch[T]) values(kept *T) []string {
	if kept == nil || w.config.Index == nil {
		return nil
	}
	return w.config.Index(kept)
}
