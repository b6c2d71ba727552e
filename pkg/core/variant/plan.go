package variant

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/distribute"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// Planner plans the part of each variant. It is a distribute.Distributor.
type Planner struct {
	// members are the variants in the order in which they are filled.
	members []member
	// recent are the values within baseOver.
	recent series.Ring[float64]
	sorted []float64 // scratch
	// limits are the present sizes of variants that cannot grow, by their index; +Inf for no limit. nil means that no variant is limited.
	limits []float64
}

// baseOver is the time over which the base is computed. On recorded demand, half an hour and two hours cost the same but differ in churn.
const baseOver = time.Hour

// member is a variant and its simulated HPA.
type member struct {
	Variant

	// at is the variant's index. slow is true if it starts later than the first variant. level is the quantile level of the recent values
	// that its base covers; 0 if it has no base.
	at    int
	slow  bool
	level float64
	// played simulates its replicas. Their lead time is the difference to the lead time of the first variant, because the value looks
	// ahead by the lead time of the first variant.
	played *sim.Simulation
	// paid are the replica-hours of the newest hours.
	paid series.Ring[float64]
}

// paidHours is how many hours are kept, because a source may be unavailable for a day.
const paidHours = 24

// Plan is the state of the variants at a step, in the order in which they are filled.
type Plan []Planned

// Planned is one variant of a Plan, in the unit of the demand.
type Planned struct {
	// Name of the variant, and its index among them.
	Name  string
	Index int
	// Capacity is what a replica sustains. Floor and Most are what minReplicas and maxReplicas sustain.
	Capacity, Floor, Most float64
	// Limited: Most is the demand that its present replicas sustain, because there is no node for more replicas.
	Limited bool
	// Slow variants have a Base. Ready is the part of the Base that is ready.
	Slow        bool
	Base, Ready float64
	// Band is the dead band of its HPA.
	Band hpa.DeadBand
}

// Distribute returns a function that creates a Planner; nil if there are no variants.
func Distribute(all []Variant) distribute.Maker {
	if len(all) == 0 {
		return nil
	}
	return func(start time.Time, step time.Duration) (distribute.Distributor, error) {
		p, err := NewPlanner(all, start, step)
		if err != nil {
			return nil, err // A nil Planner would be a Distributor that is not nil.
		}
		return p, nil
	}
}

// NewPlanner returns a Planner before its first step. The values look ahead by the lead time of the first variant.
func NewPlanner(all []Variant, start time.Time, step time.Duration) (*Planner, error) {
	p := &Planner{recent: series.NewRing[float64](max(int(baseOver/step), 1))}
	for _, i := range order(all) {
		v := all[i]
		m := member{Variant: v, at: i, slow: v.slow(&all[0]), paid: series.NewRing[float64](paidHours)}
		if m.slow {
			m.level = v.level(&all[0])
		}
		var err error
		m.played, err = sim.NewSimulation(sim.Spec{
			Capacity: v.Capacity(), HPA: v.HPA, PodLead: sim.Constant(max(v.Lead-all[0].Lead, 0)), PassDeadBand: true,
		}, 1, start, step)
		if err != nil {
			return nil, fmt.Errorf("variant %s: %w", v.Name, err)
		}
		p.members = append(p.members, m)
	}
	return p, nil
}

// Limit implements distribute.Distributor.
func (p *Planner) Limit(limits []float64) { p.limits = limits }

// Step implements distribute.Distributor. It simulates the HPAs of the variants on their parts.
func (p *Planner) Step(value float64) distribute.Plan {
	p.recent.Push(value)
	plan := p.plan()
	parts := plan.Share(value)
	for i := range p.members {
		m := &p.members[i]
		m.played.Play([]float64{parts[m.at].Value}, parts[m.at].Value)
		if m.played.FullHour() {
			m.paid.Push(m.played.Score().Paid[0])
			m.played.Reset()
		}
	}
	return plan
}

// ReplicaHours implements distribute.Distributor.
func (p *Planner) ReplicaHours(hours int) []float64 {
	out := make([]float64, len(p.members))
	for i := range p.members {
		m := &p.members[i]
		for ago := range min(hours, m.paid.Len()) {
			out[m.at] += m.paid.Ago(ago)
		}
	}
	return out
}

// plan computes the base of each slow variant in whole replicas: the level that the value exceeded for long enough in the last hour, minus
// the parts of cheaper variants.
func (p *Planner) plan() Plan {
	out := make(Plan, len(p.members))
	held := 0.0
	for i := range p.members {
		held += p.members[i].floor()
		if len(p.limits) > 0 {
			held -= math.Max(p.members[i].floor()-p.limits[p.members[i].at], 0)
		}
	}
	for i := range p.members {
		m := &p.members[i]
		one := Planned{
			Name: m.Name, Index: m.at, Capacity: m.Capacity(), Floor: m.floor(), Most: m.most(),
			Slow: m.slow, Band: m.played.DeadBand(0),
		}
		if len(p.limits) > 0 && p.limits[m.at] < one.Most {
			one.Most, one.Limited = p.limits[m.at], true
		}
		room := math.Max(one.Most-one.Floor, 0)
		if m.slow {
			replicas := math.Ceil((p.lasting(m.level) - held) / m.Capacity())
			one.Base = one.Floor + math.Min(math.Max(replicas, 0)*m.Capacity(), room)
			ready := math.Max(one.Floor, float64(m.played.Ready(0))*m.Capacity())
			one.Ready = math.Min(math.Min(one.Base, one.Most), ready)
			room = one.Base - one.Floor
		}
		held += room
		out[i] = one
	}
	return out
}

// lasting returns the quantile of the recent values at a level; 0 for the level 0.
func (p *Planner) lasting(level float64) float64 {
	if level == 0 {
		return 0
	}
	p.sorted = append(p.sorted[:0], p.recent.Values()...)
	slices.Sort(p.sorted)
	return p.sorted[min(int(level*float64(len(p.sorted))), len(p.sorted)-1)]
}
