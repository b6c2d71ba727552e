package leadtime

import "time"

// Pod is what the API says of a pod at a moment.
type Pod struct {
	UID string
	// Created is never zero. Scheduled is zero until a scheduler has found a node, Taken until the node has taken it over.
	Created, Scheduled, Taken time.Time
	// Ready is the pod's condition, Changed when it last changed sides or was first said; zero where it never was.
	Ready   bool
	Changed time.Time
	// Started is the earliest start of the containers that run now; zero where none does. Init containers do not count.
	Started time.Time
	// Restarted says that a container has ended before: it was restarted, or is about to be.
	Restarted bool
	// Failing says that a container cannot be started as the pod asks for it: its image cannot be pulled, a secret is not
	// there. Such a pod waits for somebody to mend that.
	Failing bool
	// Over says that the pod has ended or was told to.
	Over bool
}

// Firsts tells the first time that a pod becomes ready from the later ones. The API keeps only the newest time of a
// condition, and an inference server under load may well fail its readiness probe and pass it again hours after its
// start; so a pod is measured only if it was seen before it was ever ready. One that is ready when it is first seen never
// is. The zero value is not ready to use, make(Firsts) is.
//
// It holds one entry for each pod that was observed and not forgotten, MaxPods at most; further pods are not measured.
type Firsts map[string]Life

// MaxPods bounds the pods of one workload that are followed at once. An entry takes about 100 bytes.
const MaxPods = 10_000

// Life is where a pod is in its life.
type Life bool

const (
	// Young pods were never ready.
	Young Life = true
	// Grown pods were ready, or cannot be measured any more.
	Grown Life = false
)

// Observe takes a pod as it is now, and returns its start if this is the first that it is ready. The start may still be
// nonsense: see Start.Check.
//
// A pod whose container was restarted before the pod was ready, or could not be started at some time, is not measured: how
// long it took says how long a fault lasted. Neither is one that ended before.
func (f Firsts) Observe(p Pod) (Start, bool) {
	life, known := f[p.UID]
	switch {
	case !known && len(f) >= MaxPods:
	case p.Over || p.Restarted || p.Failing:
		f[p.UID] = Grown
	case !known && !p.Ready:
		f[p.UID] = Life(neverReady(p))
	case !known:
		f[p.UID] = Grown
	case life == Young && p.Ready:
		f[p.UID] = Grown
		return Start{Created: p.Created, Scheduled: p.Scheduled, Taken: p.Taken, Ready: p.Changed}, true
	}
	return Start{}, false
}

// Forget frees the entry of a pod that is gone.
func (f Firsts) Forget(uid string) { delete(f, uid) }

// neverReady says of a pod that is not ready and has no restarts whether it was not ready before. The condition is false
// from the time that the node took the pod over, which is before its containers start; a pod that was ready and is not any
// more lost it after they did. (Equal times come from a quick start: they are whole seconds.)
func neverReady(p Pod) bool {
	return p.Changed.IsZero() || p.Started.IsZero() || !p.Changed.After(p.Started)
}
