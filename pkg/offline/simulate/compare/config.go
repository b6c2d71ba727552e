package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// DefaultBadHours is the objective of a Forecast that names none, as a share of the demand (manifest.DefaultBadHours).
const DefaultBadHours = 0.01

// Config is a history, and the workload and the autoscaler that are to meet it.
type Config struct {
	// Demand is the recorded total, on any step, NaN for a gap. Source names its origin, and Remarks are notes of its
	// reader.
	Demand  forecast.Series
	Source  string
	Remarks []string
	// TooShort, if not empty, is why this history is too short for a verdict; Doubt is why its values cannot be a demand.
	TooShort, Doubt string
	// TrustInput: a demand that is far above what maxReplicas sustain is none of the doubts.
	TrustInput bool
	// HPA is the autoscaler, with one metric of an AverageValue target; Autoscaler names it in words.
	HPA        hpa.Spec
	Autoscaler string
	// Lead is the time from "more replicas" to "ready"; with Node, from having a place on a node.
	Lead LeadTime
	// Node, if not nil, is the lead time of a node, for replicas without a place. Nil: Lead includes it.
	Node *LeadTime
	// Pool, if not nil, is a warm pool to judge. It needs a Node.
	Pool *Pool
	// Capacity is what a replica sustains, in the metric's unit; 0 takes the autoscaler's target for it.
	Capacity float64
	// Objective is the share of the demand, above 0 and below 1, that may wait longer than Wait; 0 for sim.DefaultWait.
	Objective float64
	// BadHours: Objective limits the share of the demand that arrives in bad hours instead (sim.IsBadHour).
	BadHours bool
	Wait     time.Duration
	// Deferrable is the share of the demand, at least 0 and below 1, that may wait until a Deadline.
	Deferrable float64
	Deadline   time.Duration
	// GPUs of a replica; 0 for 1. GPUPrice of one for an hour in dollars, 0 for none.
	GPUs, GPUPrice float64
	// Events are what Forewarm knows of the demand beforehand; nil for nothing.
	Events event.Calendar
	// Priors are what Forewarm knows of other workloads; nil for the built-in ones.
	Priors *forecaster.Priors
	// Only names the policies to play, in no order; nil is all of them, with what forewarm would cost for other objectives.
	Only []string
	// Workers is how much is played at once; 0 for as many as the machine runs.
	Workers int

	// interruptions is how often a ready replica is lost in an hour. Only scenarios have them.
	interruptions float64
}

// withDefaults replaces zeros by defaults. Only an HPA scales to zero, and only without variants and a warm pool.
func (c *Config) withDefaults() Config {
	out := *c
	if out.Capacity == 0 && len(out.HPA.Metrics) == 1 {
		out.Capacity = float64(out.HPA.Metrics[0].Target) / 1000
	}
	out.Wait = cmp.Or(out.Wait, sim.DefaultWait)
	out.GPUs = cmp.Or(out.GPUs, 1)
	out.Workers = cmp.Or(out.Workers, runtime.GOMAXPROCS(0))
	if !out.HPA.Cluster.ScaleToZero || out.Pool != nil {
		out.HPA.Min, out.HPA.Cluster.ScaleToZero = max(out.HPA.Min, 1), false
	}
	return out
}

// Validate returns every problem.
func (c *Config) Validate() error {
	filled := c.withDefaults()
	c = &filled
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(c.HPA.Metrics) != 1 || c.HPA.Metrics[0].Type != hpa.AverageValue {
		wrong(
			"an autoscaler with %d metrics; expected exactly one metric, with an AverageValue target",
			len(c.HPA.Metrics),
		)
	}
	if !(c.Objective > 0 && c.Objective < 1) {
		wrong("an objective of %v; expected a share above 0 and below 1, such as 0.01", c.Objective)
	}
	if !(c.Deferrable >= 0 && c.Deferrable < 1) || (c.Deferrable > 0) != (c.Deadline > 0) {
		wrong(
			"a share of %v of the demand that may wait %s; expected 0, or a share below 1 with a deadline",
			c.Deferrable,
			c.Deadline,
		)
	}
	if !(c.GPUs > 0) || math.IsInf(c.GPUs, 0) {
		wrong("%v GPUs per replica; expected more than 0", c.GPUs)
	}
	if !(c.GPUPrice >= 0) || math.IsInf(c.GPUPrice, 0) {
		wrong("a price of %v for a GPU-hour; expected 0 or more", c.GPUPrice)
	}
	for _, name := range c.Only {
		if !slices.Contains(policyNames(), name) {
			wrong("unknown policy %.64q; expected one of %s", name, strings.Join(policyNames(), ", "))
		}
	}
	if c.Workers < 0 {
		wrong("%d workers; expected 1 or more", c.Workers)
	}
	spec := c.spec(c.target())
	problems = append(problems, c.Lead.validate(), spec.Validate(sync))
	c.validatePool(wrong)
	return errors.Join(problems...)
}

// policyNames returns the names of all policies in their order.
func policyNames() []string {
	return []string{HPA, BestTarget, Max15m, Offset, HoltWinters, ARIMA, Forewarm, Oracle}
}

const (
	// sync is the period of the HPA's controller, and the step of the simulation.
	sync = sim.DefaultSync
	day  = 24 * time.Hour
)

// spec returns the workload with a target in thousandths.
func (c *Config) spec(target int64) sim.Spec {
	h := c.HPA
	if len(h.Metrics) == 1 {
		h.Metrics = []hpa.Metric{h.Metrics[0]}
		h.Metrics[0].Target = target
	}
	return sim.Spec{
		Capacity: c.Capacity, HPA: h, PodLead: c.Lead.pods(), Nodes: c.nodes(), Sync: sync, Wait: c.Wait,
		Deadline: c.Deadline, Interruptions: c.interruptions, FromZero: h.Cluster.ScaleToZero,
	}
}

// keepIdleNode is how long an empty node stays. It is the default of Cluster Autoscaler.
const keepIdleNode = 10 * time.Minute

// nodes returns the nodes that replicas need; nil if a replica never waits for a node.
func (c *Config) nodes() *sim.Nodes {
	if c.Node == nil {
		return nil
	}
	return &sim.Nodes{Lead: c.Node.pods(), PodsPerNode: c.Pool.placesOfNode(), KeepIdle: keepIdleNode}
}

// target returns the target of the autoscaler as it is, in thousandths.
func (c *Config) target() int64 {
	if len(c.HPA.Metrics) != 1 {
		return 0
	}
	return c.HPA.Metrics[0].Target
}

// capacityTarget returns the target for a replica's whole capacity, in thousandths.
func (c *Config) capacityTarget() int64 { return c.targetOfShare(1) }

// targetOfShare returns the target for a share of a replica's capacity, in thousandths.
func (c *Config) targetOfShare(of float64) int64 {
	return max(int64(math.Round(of*c.Capacity*1000)), 1)
}

// leadTimeText describes the lead time of a replica, and that of a node if replicas wait for nodes.
func (c *Config) leadTimeText() string {
	if c.Node == nil {
		return c.Lead.String()
	}
	return c.Lead.String() + "; node: " + c.Node.String()
}

// leadWithNode returns the lead time of a replica for which there is no place. If replicas wait for nodes, it includes the lead time of a
// node.
func (c *Config) leadWithNode() LeadTime {
	if c.Node == nil {
		return c.Lead
	}
	return LeadTime{Median: c.Lead.Median + c.Node.Median, P90: c.Lead.planned() + c.Node.planned()}
}

// plannedLead returns the lead time by which policies look ahead, including that of a node.
func (c *Config) plannedLead() time.Duration { return c.leadWithNode().planned() }

// lookAhead returns the lead time by which Forewarm looks ahead under an objective, as on the server.
func (c *Config) lookAhead() time.Duration {
	return leadtime.LookAhead(c.leadWithNode().Median, c.plannedLead())
}

// window returns the lead window of a decision.
func (c *Config) window() time.Duration { return leadtime.Window(c.plannedLead()) }

// LeadTime is the lead time of a replica.
type LeadTime struct {
	// Median is what half of the starts take at most.
	Median time.Duration
	// P90 is the 0.9 quantile; with 0, all starts take the same.
	P90 time.Duration
	// Known is its source: "given", or "measured on 40 starts".
	Known string
}

func (l LeadTime) validate() error {
	if l.Median < 0 || l.Median == 0 && l.P90 > 0 {
		return fmt.Errorf("a lead time of %s; expected 0 or more, and more than 0 if a p90 is given", l.Median)
	}
	if l.P90 != 0 && l.P90 < l.Median {
		return fmt.Errorf(
			"a lead time of %s with a p90 of %s; the p90 must not be shorter than the lead time",
			l.Median,
			l.P90,
		)
	}
	return nil
}

// pods returns the lead times that are simulated.
func (l LeadTime) pods() sim.LeadTime { return sim.Starts(l.Median, l.P90) } //nolint:ireturn // What a Spec holds.

// planned returns the lead time by which policies look ahead: the 0.9 quantile.
func (l LeadTime) planned() time.Duration { return max(l.Median, l.P90) }

// String is "5m0s (given)", or "5m0s, p90 8m0s (given)".
func (l LeadTime) String() string {
	text := l.Median.String()
	if l.P90 > l.Median {
		text += ", p90 " + l.P90.String()
	}
	if l.Known != "" {
		text += " (" + l.Known + ")"
	}
	return text
}
