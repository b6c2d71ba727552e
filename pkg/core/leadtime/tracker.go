package leadtime

import "time"

// Pod is the state of a pod in the API.
type Pod struct {
	UID string
	// Created is never zero. Scheduled is zero until the pod has a node, Acknowledged until the kubelet has accepted
	// it.
	Created, Scheduled, Acknowledged time.Time
	// Ready is the pod's condition, ReadyChanged its last transition; zero where the condition was never set.
	Ready        bool
	ReadyChanged time.Time
	// Started is the earliest start of the running containers, without init containers; zero where none runs.
	Started time.Time
	// Restarted is true where a container has ended before: it was restarted, or will be.
	Restarted bool
	// Failing is true where a container cannot start: its image cannot be pulled, or a secret is missing. The pod waits
	// until somebody fixes that.
	Failing bool
	// Ended is true where the pod has ended or is being deleted.
	Ended bool
}

// PodTracker finds the first time that each pod becomes ready. The API keeps only the newest transition of a condition,
// and an inference server under load may fail its readiness probe and pass it again hours after its start. So a pod is
// measured only if it was observed before it was ever ready. The zero value is not usable; make(PodTracker) is.
//
// It holds one entry for each pod that was observed and not forgotten, at most MaxPods. Further pods are not measured.
type PodTracker map[string]stage

// MaxPods limits the tracked pods of one workload. An entry takes about 100 bytes.
const MaxPods = 10_000

// stage is the stage of a pod's start.
type stage bool

const (
	// starting pods were never ready.
	starting stage = true
	// finished pods were ready, or cannot be measured any more.
	finished stage = false
)

// Observe records the state of a pod and returns its start when it becomes ready for the first time. The start may
// still be invalid: see Start.Validate.
//
// A pod is not measured if a container was restarted or could not be started before the pod was ready, or if the pod
// ended before: its duration is that of the failure.
func (f PodTracker) Observe(p Pod) (Start, bool) {
	life, known := f[p.UID]
	switch {
	case !known && len(f) >= MaxPods:
	case p.Ended || p.Restarted || p.Failing:
		f[p.UID] = finished
	case !known && !p.Ready:
		f[p.UID] = stage(neverReady(p))
	case !known:
		f[p.UID] = finished
	case life == starting && p.Ready:
		f[p.UID] = finished
		return Start{
			Created:      p.Created,
			Scheduled:    p.Scheduled,
			Acknowledged: p.Acknowledged,
			Ready:        p.ReadyChanged,
		}, true
	}
	return Start{}, false
}

// Forget removes the entry of a pod that is gone.
func (f PodTracker) Forget(uid string) { delete(f, uid) }

// neverReady reports whether a pod that is not ready and has no restarts was never ready. Its condition is false from
// the time that the kubelet accepted the pod, before its containers start; a pod that lost its readiness lost it after
// they started. (Equal times mean a quick start: they are whole seconds.)
func neverReady(p Pod) bool {
	return p.ReadyChanged.IsZero() || p.Started.IsZero() || !p.ReadyChanged.After(p.Started)
}
