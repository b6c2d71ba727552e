package hpasim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// The defaults of a Spec.
const (
	// DefaultSync is the period of the HPA controller.
	DefaultSync = 15 * time.Second
	// DefaultWait is how long demand may wait without being late.
	DefaultWait = 30 * time.Second
	// DefaultPatience is when a client gives up.
	DefaultPatience = 2 * time.Minute
)

// Spec is what a workload is made of. Zero durations have the defaults above.
type Spec struct {
	// Capacity is how much of the demand a ready replica serves: a thousandth, which is what the HPA reads, or more.
	Capacity float64
	// HPA scales the workload. It has one metric, which reads the value that is served.
	HPA hpa.Spec
	// Sync is the period of its controller.
	Sync time.Duration
	// Pod is the lead time of a pod that has a place.
	Pod Lead
	// Nodes says how places come about; nil means that there always are enough.
	Nodes *Nodes
	// Wait beyond which demand is late, and Patience beyond which it leaves unserved.
	Wait, Patience time.Duration
	// Seed of the lead times that are drawn.
	Seed uint64
}

// WithDefaults has the defaults in place of zeros. The patience is no less than the wait.
func (s Spec) WithDefaults() Spec {
	s.Sync = cmp.Or(s.Sync, DefaultSync)
	s.Wait = cmp.Or(s.Wait, DefaultWait)
	s.Patience = cmp.Or(s.Patience, max(DefaultPatience, s.Wait))
	return s
}

// Validate returns every problem of a Spec that is played in steps of a length.
func (s Spec) Validate(step time.Duration) error {
	filled := s.WithDefaults()
	return filled.validate(step)
}

func (s Spec) validate(step time.Duration) error {
	problems := []error{s.HPA.Validate()}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(s.HPA.Metrics) != 1 {
		wrong("an HPA of %d metrics, want 1", len(s.HPA.Metrics))
	}
	if !(s.Capacity >= leastCapacity) || math.IsInf(s.Capacity, 0) {
		wrong("a capacity of %v, want %v or more", s.Capacity, leastCapacity)
	}
	if step <= 0 || s.Sync < step || s.Sync%step != 0 {
		wrong("a sync every %s and a step of %s, want a whole number of steps", s.Sync, step)
	}
	if s.Wait < 0 || s.Patience < s.Wait {
		wrong("a wait of %s and a patience of %s, want 0 or more, and the patience no less", s.Wait, s.Patience)
	}
	problems = append(problems, checkLead("pod", s.Pod))
	if s.Nodes != nil {
		problems = append(problems, checkLead("node", s.Nodes.Lead))
		if s.Nodes.Places < 1 || s.Nodes.Keep < 0 {
			wrong("nodes of %d places kept for %s, want 1 or more for 0 or more", s.Nodes.Places, s.Nodes.Keep)
		}
	}
	return errors.Join(problems...)
}

// leastCapacity is the resolution of what the HPA reads.
const leastCapacity = 0.001

// longestLead keeps a mistaken unit from taking the memory.
const longestLead = 7 * 24 * time.Hour

func checkLead(what string, lead Lead) error {
	if lead == nil {
		return fmt.Errorf("no lead time of a %s: want one, be it 0", what)
	}
	if e, ok := lead.(Empirical); ok && len(e) == 0 {
		return fmt.Errorf("no lead times of a %s to draw from, want at least one", what)
	}
	if l, ok := lead.(LogNormal); ok && !(l.Sigma >= 0 && l.Sigma < longestLogNormal) {
		return fmt.Errorf("lead time of a %s: a sigma of %v, want 0 to %v", what, l.Sigma, longestLogNormal)
	}
	if longest := lead.Longest(); longest < 0 || longest > longestLead {
		return fmt.Errorf("lead time of a %s: up to %s, want 0 to %s", what, longest, longestLead)
	}
	return nil
}
