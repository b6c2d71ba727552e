package leadtime

import (
	"errors"
	"fmt"
	"time"
)

// Start is a pod's time from its creation until it was first ready.
type Start struct {
	// Created is set by the API server's clock and Scheduled by the scheduler's. Acknowledged, when the kubelet
	// accepted the pod, and Ready are set by the node's clock. All are whole seconds. Scheduled is zero for a pod that
	// was bound without a scheduler, Acknowledged where the node does not report it.
	Created, Scheduled, Acknowledged, Ready time.Time
	// Held is true where a warm pool held nodes for the pod when it was created.
	Held bool
}

const (
	// promptScheduling is how soon a pod is scheduled that finds a node. Kubernetes promises that 99 % of pods whose
	// images are present start within 5 s (scalability SLO "pod startup latency"), so twice that for the scheduler
	// alone means waiting. The pod alone shows it: a pod that waited for a node or for its GPUs was scheduled late, so
	// nodes need not be read.
	promptScheduling = 10 * time.Second
	// maxNodeWait is the wait beyond which no node was available: a quota, or no capacity. Nodes with GPUs take 2 to 10
	// minutes. A longer window provides no missing capacity, so such a start does not count.
	maxNodeWait = 30 * time.Minute
	// maxStart is how long a pod with a node may take; no lead window is longer than the longest lead time. A longer
	// start waits for something else.
	maxStart = longest
	// maxNodeSkew is how much the node's clock may differ from the scheduler's. A kubelet accepts a pod in about a
	// second.
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
	// errClocks: the times are out of order, so the clocks disagree.
	errClocks = errors.New("clocks disagree")
	// errShortage: no node was available for longer than a node takes to start.
	errShortage = errors.New("no node capacity")
	// errStuck: the pod had a node and took longer than any start.
	errStuck = errors.New("stuck")
)

// Validate returns why a start must not be counted; nil where it may. A pod that was scheduled before its creation and
// ready after it counts as scheduled at once: these two clocks may differ a little.
func (s Start) Validate() error {
	switch {
	case s.Created.Unix() <= 0 || s.took() <= 0:
		return fmt.Errorf("created %s, ready %s: %w", s.Created, s.Ready, errClocks)
	case s.Scheduled.After(s.Ready):
		return fmt.Errorf("scheduled %s, ready %s: %w", s.Scheduled, s.Ready, errClocks)
	case !s.Scheduled.IsZero() && !s.Acknowledged.IsZero() && s.Acknowledged.Sub(s.Scheduled).Abs() > maxNodeSkew:
		return fmt.Errorf("scheduled %s, taken by the node %s: %w", s.Scheduled, s.Acknowledged, errClocks)
	case s.wait() > maxNodeWait:
		return fmt.Errorf("waited %s for a node: %w", s.wait(), errShortage)
	case s.took()-max(s.wait(), 0) > maxStart:
		return fmt.Errorf("ready %s after it had a node: %w", s.took()-max(s.wait(), 0), errStuck)
	}
	return nil
}
