package workloads

import (
	"context"
	"sync"

	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// namespace watches the pods of a namespace for the followers of its workloads.
type namespace struct {
	*informer.Watch[pod]

	stop context.CancelFunc
	// start begins the watch. Pods are read only after the scale of a workload was read.
	start func()

	mu        sync.Mutex
	followers map[*follower]bool
}

// watchNamespace returns a watch that ends with the context.
func (w *Watch) watchNamespace(ctx context.Context, running *sync.WaitGroup, name string) *namespace {
	own, stop := context.WithCancel(ctx)
	started := make(chan struct{})
	n := &namespace{
		stop: stop, start: sync.OnceFunc(func() { close(started) }), followers: map[*follower]bool{},
	}
	pods := informer.From(w.pods.CoreV1().Pods(name), w.pods, informer.UnfinishedPods)
	n.Watch = informer.New(pods, newPod, informer.Config[pod]{
		Name: "pods in " + name, Verb: "list", Advice: "apply deploy/default, or upgrade the chart",
		Changed: n.observe, Listed: n.listed, Retry: w.config.Retry,
		Failed: func(ctx context.Context, problem *informer.ReadError) { w.logOnce(ctx, "pods", name, problem) },
	})
	running.Go(func() {
		select {
		case <-started:
			_ = n.Run(own) //nolint:errcheck // It is nil.
		case <-own.Done():
		}
	})
	return n
}

func (n *namespace) observe(before, after *pod) {
	n.each(func(f *follower) { f.change(before, after) })
}

func (n *namespace) listed() { n.each((*follower).listed) }

func (n *namespace) each(do func(*follower)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for f := range n.followers {
		do(f)
	}
}

func (n *namespace) add(f *follower) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.followers[f] = true
}

// remove removes a follower. It works on a nil namespace.
func (n *namespace) remove(f *follower) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.followers, f)
}
