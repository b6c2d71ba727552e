package leadtime

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Pod is the state of a pod in the API.
type Pod struct {
	UID string
	// Created is never zero. Scheduled is zero until the pod has a node, and Acknowledged until the kubelet has accepted the pod.
	Created, Scheduled, Acknowledged time.Time
	// Ready is the pod's condition. ReadyChanged is the time of its last transition; zero if the condition was never set.
	Ready        bool
	ReadyChanged time.Time
	// Started is the earliest start of the running containers, without init containers; zero if no container runs.
	Started time.Time
	// Restarted is true if a container has ended before, so that it was or will be restarted.
	Restarted bool
	// Failing is true if a container cannot start, for example because its image cannot be pulled or a secret is missing. The pod waits
	// until someone fixes that.
	Failing bool
	// Ended is true if the pod has ended or is being deleted.
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
	// starting is the stage of a pod that was never ready.
	starting stage = true
	// finished is the stage of a pod that was ready or can no longer be measured.
	finished stage = false
)

// Observe records the state of a pod and returns its start when it becomes ready for the first time. The start may
// still be invalid: see Start.Validate.
//
// A pod is not measured if a container was restarted or could not be started before the pod was ready, or if the pod ended before that,
// because the duration would be the duration of the failure.
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

// neverReady reports whether a pod that is not ready and has no restarts was never ready. The condition of such a pod has been false since
// the kubelet accepted the pod, which was before its containers started. A pod that was ready and no longer is has a condition that changed
// after its containers started. Equal times mean a quick start, because they are whole seconds.
func neverReady(p Pod) bool {
	return p.ReadyChanged.IsZero() || p.Started.IsZero() || !p.ReadyChanged.After(p.Started)
}

// Start is a pod's time from its creation until it was first ready.
type Start struct {
	// Created is set by the API server's clock and Scheduled by the scheduler's. Acknowledged, when the kubelet accepted the pod, and Ready
	// are set by the node's clock. All are whole seconds. Scheduled is zero for a pod that was bound without a scheduler. Acknowledged is
	// zero if the node does not report it.
	Created, Scheduled, Acknowledged, Ready time.Time
	// Held is true if a warm pool held nodes for the pod when the pod was created.
	Held bool
}

const (
	// promptScheduling is how long the scheduling of a pod takes at most if there is a node for it. Kubernetes promises that 99 % of pods
	// whose images are present start within 5 s (scalability SLO "pod startup latency"). So if the scheduling alone takes twice as long,
	// the pod waited for a node or for its GPUs. The pod alone shows this, so Forewarm does not need to read nodes.
	promptScheduling = 10 * time.Second
	// maxNodeWait is the wait beyond which no node was available, because of a quota or missing capacity. Nodes with GPUs take 2 to 10
	// minutes to start. A start with a longer wait does not count, because a longer lead window does not provide missing capacity.
	maxNodeWait = 30 * time.Minute
	// maxStart is how long the start of a pod with a node can take. It is the longest possible lead time. A pod that takes longer waits for
	// something else.
	maxStart = longest
	// maxNodeSkew is the maximum difference between the node's clock and the scheduler's clock. A kubelet accepts a pod in about a second.
	maxNodeSkew = 30 * time.Second
)

// took returns the duration of the start.
func (s Start) took() time.Duration { return s.Ready.Sub(s.Created) }

// Waited reports whether no node had room for the pod when it was created.
func (s Start) Waited() bool { return s.wait() > promptScheduling }

func (s Start) wait() time.Duration {
	if s.Scheduled.IsZero() {
		return 0
	}
	return s.Scheduled.Sub(s.Created)
}

// Errors of Validate.
var (
	// errClocks means that the times are out of order, so the clocks disagree.
	errClocks = errors.New("clocks disagree")
	// errShortage means that no node was available for longer than a node takes to start.
	errShortage = errors.New("no node capacity")
	// errStuck means that the pod had a node and took longer than any valid start.
	errStuck = errors.New("stuck")
)

// Validate returns why a start must not be counted; nil if it is valid. A pod that was scheduled before its creation and ready after it
// counts as scheduled immediately, because the two clocks may differ a little.
func (s Start) Validate() error {
	switch {
	case s.Created.Unix() <= 0 || s.took() <= 0:
		return fmt.Errorf("created %s, ready %s: %w", s.Created, s.Ready, errClocks)
	case s.Scheduled.After(s.Ready):
		return fmt.Errorf("scheduled %s, ready %s: %w", s.Scheduled, s.Ready, errClocks)
	case !s.Scheduled.IsZero() && !s.Acknowledged.IsZero() && s.Acknowledged.Sub(s.Scheduled).Abs() > maxNodeSkew:
		return fmt.Errorf("scheduled %s, acknowledged by the node %s: %w", s.Scheduled, s.Acknowledged, errClocks)
	case s.wait() > maxNodeWait:
		return fmt.Errorf("waited %s for a node: %w", s.wait(), errShortage)
	case s.took()-max(s.wait(), 0) > maxStart:
		return fmt.Errorf("ready %s after it had a node: %w", s.took()-max(s.wait(), 0), errStuck)
	}
	return nil
}

// Workload identifies the workload that a Forecast scales. It is comparable.
type Workload struct {
	Namespace string
	// APIVersion is group/version, or only the version for the core group: "apps/v1".
	APIVersion string
	// Kind is CamelCase: "Deployment".
	Kind string
	Name string
}

// Ref returns the workload within its namespace, without a version, so that it stays the same across API versions:
// "Deployment.apps/llama".
func (w Workload) Ref() string {
	group, _, grouped := strings.Cut(w.APIVersion, "/")
	if !grouped {
		return w.Kind + "/" + w.Name
	}
	return w.Kind + "." + group + "/" + w.Name
}

const (
	// maxAge is how much older than the newest start a kept start may be. It is long enough for a record that is written late because there
	// is no leader or because the API server is down.
	maxAge = time.Hour
	// maxRecent limits the number of starts of one workload. A start takes about 100 bytes. If more than 4,096 replicas start within an
	// hour, some starts are lost.
	maxRecent = 4096
)

// RecentStarts are the newest observed starts of a workload's pods, for records that have not counted them yet (a
// workload may have several Forecasts, each with its own record). The zero value is empty.
type RecentStarts struct {
	starts []Start
}

// Add adds a valid start (see Start.Validate). It drops starts that are too old, the oldest starts if there are too many, and starts dated
// by a clock that was ahead.
func (r *RecentStarts) Add(s Start) {
	if s.Validate() != nil {
		return
	}
	at, _ := slices.BinarySearchFunc(r.starts, s, func(a, b Start) int {
		return cmp.Or(a.Ready.Compare(b.Ready), a.Created.Compare(b.Created))
	})
	r.starts = slices.Insert(r.starts, at, s)
	wrong, _ := slices.BinarySearchFunc(r.starts, s.Ready.Add(maxClockSkew), func(a Start, t time.Time) int {
		return a.Ready.Compare(t)
	})
	r.starts = slices.Delete(r.starts, wrong, len(r.starts))
	oldest := r.starts[len(r.starts)-1].Ready.Add(-maxAge)
	drop := max(len(r.starts)-maxRecent, 0)
	for r.starts[drop].Ready.Before(oldest) {
		drop++
	}
	r.starts = slices.Delete(r.starts, 0, drop)
}

// List returns a copy of the starts, the oldest first.
func (r *RecentStarts) List() []Start { return slices.Clone(r.starts) }
