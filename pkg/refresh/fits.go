package refresh

import (
	"runtime"
	"sync"
)

// fits bounds the refreshes that compute, whose processors and memory all sources share: one for each processor. Namespaces take
// turns, so that one with many Forecasts, or with ones that change all the time, does not delay the others.
type fits struct {
	mu   sync.Mutex
	free int
	// waiting are the refreshes of each namespace, the oldest first.
	waiting map[string]*waitingFits
	// served is the turn in which a namespace had one last.
	served map[string]uint64
	turn   uint64
}

// waitingFits are a namespace's own: those that only step come before those that fit anew.
type waitingFits struct{ steps, rebuilds []chan struct{} }

func newFits() *fits {
	return &fits{free: runtime.GOMAXPROCS(0), waiting: map[string]*waitingFits{}, served: map[string]uint64{}}
}

// run runs a refresh in the turn of its namespace.
func (f *fits) run(namespace string, rebuild bool, refresh func()) {
	f.enter(namespace, rebuild)
	defer f.leave()
	refresh()
}

func (f *fits) enter(namespace string, rebuild bool) {
	f.mu.Lock()
	if f.free > 0 {
		f.free--
		f.serve(namespace)
		f.mu.Unlock()
		return
	}
	own := f.waiting[namespace]
	if own == nil {
		own = &waitingFits{}
		f.waiting[namespace] = own
	}
	turn := make(chan struct{})
	if rebuild {
		own.rebuilds = append(own.rebuilds, turn)
	} else {
		own.steps = append(own.steps, turn)
	}
	f.mu.Unlock()
	<-turn
}

// leave gives the place to the namespace that has waited longest for a turn.
func (f *fits) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	next, found := "", false
	for namespace := range f.waiting {
		earlier := f.served[namespace] < f.served[next] || f.served[namespace] == f.served[next] && namespace < next
		if !found || earlier {
			next, found = namespace, true
		}
	}
	if !found {
		f.free++
		return
	}
	own := f.waiting[next]
	queue := &own.steps
	if len(own.steps) == 0 {
		queue = &own.rebuilds
	}
	close((*queue)[0])
	*queue = (*queue)[1:]
	if len(own.steps)+len(own.rebuilds) == 0 {
		delete(f.waiting, next)
	}
	f.serve(next)
}

func (f *fits) serve(namespace string) {
	f.turn++
	f.served[namespace] = f.turn
}
