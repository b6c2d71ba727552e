package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/hpa"
)

// The defaults of a Config.
const (
	// DefaultSync is the period of the HPA controller.
	DefaultSync = 15 * time.Second
	// DefaultWait is what may be waited without being late.
	DefaultWait = 30 * time.Second
	// DefaultPatience is when a client gives up.
	DefaultPatience = 2 * time.Minute
)

// Config is a workload and the demand that it meets. Zero durations have the defaults above.
type Config struct {
	// Demand is the total that arrives, in the metric's unit; NaN is a step in which nothing arrived and nothing was
	// observed. Its step is that of the queue.
	Demand forecast.Series
	// Capacity is how much of the demand a ready replica serves: a thousandth, which is what the HPA reads, or more.
	Capacity float64
	// HPA scales the workload. It has one metric, which reads the value that the policy serves.
	HPA hpa.Spec
	// Sync is the period of its controller: a whole number of the demand's steps.
	Sync time.Duration
	// Refresh is how often the policy is asked: a whole number of syncs. 0 means at every sync.
	Refresh time.Duration
	// Pod is the lead time of a pod that has a place.
	Pod Lead
	// Nodes says how places come about; nil means that there always are enough.
	Nodes *Nodes
	// Wait beyond which demand is late, and Patience beyond which it leaves unserved.
	Wait, Patience time.Duration
	// WarmUp is how much of the demand's start is played without being counted.
	WarmUp time.Duration
	// Seed of the lead times that are drawn.
	Seed uint64
	// Record, if not nil, sees every step, those of the warm-up included.
	Record func(Moment)
}

// filled has the defaults in place of zeros.
func (c Config) filled() Config {
	c.Sync = cmp.Or(c.Sync, DefaultSync)
	c.Refresh = cmp.Or(c.Refresh, c.Sync)
	c.Wait = cmp.Or(c.Wait, DefaultWait)
	c.Patience = cmp.Or(c.Patience, DefaultPatience)
	return c
}

// Validate returns every problem.
func (c Config) Validate() error {
	return c.filled().validate()
}

// validate looks at a Config without zeros.
func (c Config) validate() error {
	problems := []error{c.HPA.Validate(), checkDemand(c.Demand)}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(c.HPA.Metrics) != 1 {
		wrong("an HPA of %d metrics, want 1", len(c.HPA.Metrics))
	}
	if !(c.Capacity >= leastCapacity) || math.IsInf(c.Capacity, 0) {
		wrong("a capacity of %v, want %v or more", c.Capacity, leastCapacity)
	}
	_, notSteps := wholeSteps(c.Demand.Step, c.Sync)
	_, notSyncs := wholeSteps(c.Sync, c.Refresh)
	problems = append(problems, notSteps, notSyncs)
	if c.Wait < 0 || c.Patience < c.Wait {
		wrong("a wait of %s and a patience of %s, want 0 or more, and the patience no less", c.Wait, c.Patience)
	}
	if c.WarmUp < 0 {
		wrong("a warm-up of %s, want 0 or more", c.WarmUp)
	}
	problems = append(problems, checkLead("pod", c.Pod))
	if c.Nodes != nil {
		problems = append(problems, checkLead("node", c.Nodes.Lead))
		if c.Nodes.Places < 1 || c.Nodes.Keep < 0 {
			wrong("nodes of %d places kept for %s, want 1 or more for 0 or more", c.Nodes.Places, c.Nodes.Keep)
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

// checkDemand reports values that are no demand.
func checkDemand(s forecast.Series) error {
	if err := s.Check(0); err != nil {
		return fmt.Errorf("demand: %w", err)
	}
	for i, v := range s.Values {
		if v < 0 || v >= mostValue {
			return fmt.Errorf("demand: value %d is %v, want 0 or more and less than %v, or NaN for a gap; "+
				"where it is too large, state it in a larger unit", i, v, float64(mostValue))
		}
	}
	return nil
}

// wholeSteps is how many steps there are in a period, which must be a whole number of them.
func wholeSteps(step, period time.Duration) (int, error) {
	if step <= 0 || period < step || period%step != 0 {
		return 0, fmt.Errorf("a period of %s and a step of %s, want a whole number of steps", period, step)
	}
	return int(period / step), nil
}
