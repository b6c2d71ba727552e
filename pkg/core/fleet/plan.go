package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/distribute"
)

// Plan is how the GPUs of a fleet are used at a moment, and what batch work may use. It is immutable.
type Plan struct {
	At   time.Time
	GPUs float64
	// Other are GPUs of pods that are neither members nor batch work. Members are the GPUs that the members hold or ask for now.
	Other, Members float64
	// Unknown are the members that count with all replicas that they may have, each with the reason: "chat is stale".
	Unknown []string
	// Batch are the consumers, in the order of the fleet.
	Batch []Spare
}

// Spare is what one consumer may use.
type Spare struct {
	Consumer

	// Replicas is how many replicas of the consumer fit, including those that run: each that starts now ends before the members need its
	// GPUs.
	Replicas int
	// Need are the GPUs that are kept for the members for the length of a run. It is Expected with the Margin, but at most what the members
	// may ever have. Expected is +Inf if a member counts with all its replicas and has no limit. Margin is a share of Expected; +Inf if the
	// replay found no margin that is large enough.
	Need, Expected, Margin float64
}

// Share implements distribute.Plan. It splits a number of GPUs: each consumer gets its share of those that the members do not need during a
// run of the consumer, in GPUs. Its Capacity are the GPUs of a replica.
func (p *Plan) Share(gpus float64) []distribute.Part {
	total := 0.0
	for i := range p.Batch {
		total += p.Batch[i].Consumer.Share
	}
	out := make([]distribute.Part, len(p.Batch))
	for i := range p.Batch {
		b := &p.Batch[i]
		out[i] = distribute.Part{Name: b.Name, Capacity: b.GPUs}
		if spare := (gpus - b.Need) * b.Consumer.Share / total; spare > 0 {
			out[i].Value = spare
		}
	}
	return out
}

// Planner plans a fleet, step by step. The zero Planner is ready. It keeps the history of the newest cell and the margins of the newest hour;
// a new Planner has the same plans.
type Planner struct {
	known   []identity
	history history
	hour    time.Time
	gpus    float64
	// margins are the margins by the length of a run in cells.
	margins map[int]float64
	// day was computed at dayAt.
	day   Day
	dayAt time.Time
	// others are the GPUs of other pods in the last minutes.
	others []otherGPUs
}

// otherGPUs are the GPUs that other pods held at a time.
type otherGPUs struct {
	at   time.Time
	gpus float64
}

// identity is what the cells of a member depend on, apart from the time. The oldest value moves with the time.
type identity struct {
	name         string
	gpus, target float64
	least, most  int
	oldest       time.Time
}

// Plan plans a fleet at a time. It is finite for any input, apart from what Spare documents.
func (p *Planner) Plan(now time.Time, f Fleet) Plan {
	out := Plan{At: now, GPUs: bounded(f.GPUs), Other: bounded(f.Other)}
	members := slices.Clone(f.Members)
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	end := now.Truncate(Cell)
	known := make([]*Member, 0, len(members))
	unknown := 0.0
	for i := range members {
		m := &members[i]
		m.GPUs = bounded(m.GPUs)
		out.Members += m.now()
		if reason := m.doubt(end); reason != "" {
			unknown += math.Max(m.most(), m.now())
			out.Unknown = append(out.Unknown, m.Name+" "+reason)
			continue
		}
		known = append(known, m)
	}
	p.update(known, end, out.GPUs-out.Other-unknown)
	for _, c := range f.Batch {
		out.Batch = append(out.Batch, p.spare(now, c, known, unknown))
	}
	for i, part := range out.Share(out.GPUs - out.Other) {
		if b := &out.Batch[i]; b.GPUs > 0 {
			b.Replicas = whole(part.Value/b.GPUs + grain)
			b.Replicas = min(b.Replicas, max(whole(out.left(b)/b.GPUs+grain), b.Running))
		}
	}
	return out
}

// left returns the GPUs that the running replicas of other consumers leave. It matters if these hold more than their share, because nodes
// are gone or because the shares have changed: they keep their GPUs until they end. For the length of each run up to the consumer's own,
// these are the GPUs that the members do not need, minus those of the replicas that may run for that long.
func (p *Plan) left(of *Spare) float64 {
	left := math.Inf(1)
	for i := range p.Batch {
		within := &p.Batch[i]
		if within.Run > of.Run {
			continue
		}
		gpus := p.GPUs - p.Other - within.Need
		for j := range p.Batch {
			if b := &p.Batch[j]; b.Name != of.Name && b.Run >= within.Run {
				gpus -= b.GPUs * float64(b.Running)
			}
		}
		left = math.Min(left, gpus)
	}
	return math.Max(left, 0)
}

// doubt returns why a member counts with all its replicas, in words that continue its name; empty if its history is used.
func (m *Member) doubt(end time.Time) string {
	switch {
	case !m.valid():
		return "has no known target"
	case m.Unreliable != "":
		return m.Unreliable
	case end.Sub(m.since(end)) < time.Duration(minHistory)*Cell:
		return "has less than two days of history"
	}
	return ""
}

// update computes the history of the members until the end of the newest cell, and forgets the margins if they depend on something else now.
func (p *Planner) update(known []*Member, end time.Time, gpus float64) {
	who := make([]identity, len(known))
	for i, m := range known {
		who[i] = identity{m.Name, m.GPUs, m.Target, m.MinReplicas, m.MaxReplicas, m.ServedPeaks.Start}
	}
	same := slices.EqualFunc(who, p.known, identity.same)
	if hour := end.Truncate(time.Hour); !same || !hour.Equal(p.hour) || gpus != p.gpus {
		p.hour, p.gpus, p.margins = hour, gpus, map[int]float64{}
	}
	if same && p.history.end.Equal(end) {
		return
	}
	cells := make([][]float64, len(known))
	for i, m := range known {
		cells[i] = cellsOf(m, end)
	}
	p.known, p.history = who, sum(cells, end)
}

func (a identity) same(b identity) bool {
	since := a.oldest.Sub(b.oldest)
	b.oldest = a.oldest
	return since.Abs() < time.Hour && a == b
}

// spare plans for one consumer, without its replicas.
func (p *Planner) spare(now time.Time, c Consumer, known []*Member, unknown float64) Spare {
	c.GPUs, c.Share = bounded(c.GPUs), math.Max(bounded(c.Share), grain)
	c.Run = min(max(c.Run, Cell), time.Duration(cellsPerDay)*Cell)
	out := Spare{Consumer: c, Expected: unknown, Need: unknown}
	if len(known) == 0 {
		return out
	}
	held, ahead, most := 0.0, 0.0, 0.0
	for _, m := range known {
		held += m.now()
		ahead += math.Max(m.now(), m.ahead(now, c.Run))
		most += math.Max(m.most(), m.now())
	}
	k := cellsIn(c.Run)
	expected := p.history.expect(len(p.history.gpus), held, k)
	expected = math.Max(expected, ahead)
	out.Margin = p.margin(k)
	out.Expected += expected
	need := most
	if !math.IsInf(out.Margin, 1) {
		need = math.Min(expected*(1+out.Margin), most)
	}
	out.Need += math.Max(need, held)
	return out
}

// margin returns the margin for runs of k cells, as it was at the beginning of the hour, so that all replicas of Forewarm use the same.
func (p *Planner) margin(k int) float64 {
	if known, ok := p.margins[k]; ok {
		return known
	}
	since := int(p.history.end.Sub(p.hour) / Cell)
	until := history{end: p.hour, gpus: p.history.gpus[:max(0, len(p.history.gpus)-since)]}
	margin := until.margin(p.gpus, k)
	p.margins[k] = margin
	return margin
}

// Day returns the day ahead of the fleet. It is computed again after a minute, and if the number of GPUs has changed. Pods that are neither
// members nor batch work and come and go do not change it: the fewest GPUs that they held in the last 15 minutes count.
func (p *Planner) Day(now time.Time, f *Fleet) Day {
	const keep, remember = time.Minute, 15 * time.Minute
	p.others = append(slices.DeleteFunc(p.others, func(o otherGPUs) bool {
		return now.Sub(o.at).Abs() >= remember
	}), otherGPUs{now, bounded(f.Other)})
	steady := *f
	steady.Other = slices.MinFunc(p.others, func(a, b otherGPUs) int { return cmp.Compare(a.gpus, b.gpus) }).gpus
	if len(p.day.Hours) == 0 || now.Sub(p.dayAt).Abs() >= keep || p.day.GPUs != steady.available() {
		p.day, p.dayAt = steady.Day(now), now
	}
	return p.day
}

// available returns the GPUs that members and batch work may use.
func (f *Fleet) available() float64 { return math.Max(0, bounded(f.GPUs)-bounded(f.Other)) }

// bounded returns a number of GPUs within the supported range; 0 for one that is not a number.
func bounded(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return math.Min(v, maxGPUs)
}
