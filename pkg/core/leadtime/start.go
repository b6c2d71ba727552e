package leadtime

import (
	"errors"
	"fmt"
	"time"
)

// Start is a pod's way from its creation to the first time that it was ready.
type Start struct {
	// Created by the API server's clock and Scheduled by the scheduler's; Taken, when the node took the pod over, and Ready
	// by the node's. All are whole seconds. Scheduled is zero for a pod that was bound to its node without a scheduler, and
	// Taken where the node does not say it.
	Created, Scheduled, Taken, Ready time.Time
	// Held says that a warm pool held nodes for the pod when it was created.
	Held bool
}

const (
	// prompt is how soon a pod is scheduled that finds a node. Kubernetes promises that 99 % of pods whose images are there
	// start within 5 s (scalability SLO, "pod startup latency"), so that twice that for the scheduler alone means waiting.
	// It is told by the pod alone: a pod that had to wait for its node, whether the node was new or its GPUs were, was
	// scheduled late; so nodes need not be read.
	prompt = 10 * time.Second
	// shortage is the wait for a node beyond which there was none to be had: a quota, or no capacity. Nodes with GPUs take
	// 2 to 10 minutes. Looking further ahead buys no capacity that is not there, so such a start says nothing.
	shortage = 30 * time.Minute
	// stuck is how long a pod that has a node may take at most; no window is longer than the longest lead time. What takes
	// longer waits for something else than its start.
	stuck = longest
	// skew is how much the node's clock may differ from the scheduler's. A node takes a pod over in about a second.
	skew = 30 * time.Second
)

// Took is how long the start took.
func (s Start) Took() time.Duration { return s.Ready.Sub(s.Created) }

// Waited says that no node had room for the pod when it was created.
func (s Start) Waited() bool { return s.wait() > prompt }

func (s Start) wait() time.Duration {
	if s.Scheduled.IsZero() {
		return 0
	}
	return s.Scheduled.Sub(s.Created)
}

// Errors of Check.
var (
	// ErrClocks: the times are not in their order, so the clocks that took them disagree.
	ErrClocks = errors.New("clocks disagree")
	// ErrShortage: there was no node for longer than a node takes to come.
	ErrShortage = errors.New("no capacity")
	// ErrStuck: the pod had a node, and was not ready for longer than any start takes.
	ErrStuck = errors.New("stuck")
)

// Check says why a start must not be counted; nil where it may. A pod that was scheduled before its creation, but ready
// after it, was scheduled at once: these two clocks may differ by a little.
func (s Start) Check() error {
	switch {
	case s.Created.Unix() <= 0 || s.Took() <= 0:
		return fmt.Errorf("created %s, ready %s: %w", s.Created, s.Ready, ErrClocks)
	case s.Scheduled.After(s.Ready):
		return fmt.Errorf("scheduled %s, ready %s: %w", s.Scheduled, s.Ready, ErrClocks)
	case !s.Scheduled.IsZero() && !s.Taken.IsZero() && s.Taken.Sub(s.Scheduled).Abs() > skew:
		return fmt.Errorf("scheduled %s, taken by the node %s: %w", s.Scheduled, s.Taken, ErrClocks)
	case s.wait() > shortage:
		return fmt.Errorf("waited %s for a node: %w", s.wait(), ErrShortage)
	case s.Took()-max(s.wait(), 0) > stuck:
		return fmt.Errorf("ready %s after it had a node: %w", s.Took()-max(s.wait(), 0), ErrStuck)
	}
	return nil
}
