package warmpool

import (
	"cmp"
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const (
	// unlimited is a number of replicas, or of chunks, that no cluster reaches.
	unlimited = 1_000_000
	// largest is a demand that is taken for a fault.
	largest = 1e100
	// grain is what sums of fractions may be off by: ten replicas of a tenth of a chunk are one chunk.
	grain = 1e-6
)

// asker is a member as it is planned for: its numbers in bounds.
type asker struct {
	*Member
	doubt string
	// chunks and target as in Member, 0 chunks where they are no numbers.
	chunks, target float64
	// have are replicas that have a place or wait for one; least and most are what the autoscalers may ask for, least
	// at least what the value served asks for now.
	have, least, most float64
	// pod and node are the distributions over the two windows; without a doubt only.
	pod, node windowpeak.Quantiles
}

// askers are the members in the order of their names, so that the order they came in changes nothing.
func askers(p Pool, members []Member) []asker {
	out := make([]asker, len(members))
	for i := range members {
		out[i] = newAsker(p, &members[i])
	}
	slices.SortStableFunc(out, func(a, b asker) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func newAsker(p Pool, m *Member) asker {
	a := asker{Member: m, doubt: m.Outlook.Doubt, chunks: m.Chunks, target: m.Target}
	a.have = count(m.Placed) + count(m.Waiting)
	a.most = unlimited
	if m.MaxReplicas > 0 {
		a.most = count(m.MaxReplicas)
	}
	switch {
	case !(m.Chunks > 0 && m.Chunks <= unlimited):
		a.chunks, a.doubt = 0, cmp.Or(a.doubt, "without a number of chunks")
	case !(m.Target > 0 && m.Target <= largest):
		a.doubt = cmp.Or(a.doubt, "without a target")
	case a.doubt == "" && !usable(m.Outlook.Windows):
		a.doubt = "without a distribution"
	}
	a.least = min(count(m.MinReplicas), a.most)
	if plausible(m.Target) && m.Target > 0 && plausible(m.Outlook.Served) {
		a.least = a.replicas(m.Outlook.Served)
	}
	if a.doubt == "" {
		a.pod = within(m.Outlook.Windows, leadtime.Window(p.Pod))
		a.node = within(m.Outlook.Windows, leadtime.Window(p.Pod+p.Node))
	}
	return a
}

// count is a number of replicas as it is reckoned with.
func count(n int) float64 { return float64(min(max(n, 0), unlimited)) }

// replicas are those that the autoscalers ask for to serve a demand.
func (a *asker) replicas(demand float64) float64 {
	return min(max(math.Ceil(demand/a.target-grain), a.least), a.most)
}

// beyond is what a demand asks for beyond what the member has, in chunks. What it has too much is no place for another
// member: its autoscaler gives that back in its own time.
func (a *asker) beyond(demand float64) float64 {
	return a.chunks * max(0, a.replicas(demand)-a.have)
}

// demand is what the members ask of the pool, in chunks.
type demand struct {
	all []asker
	// sound is how many of them are not in doubt; joint says that their common past was enough to know how they move
	// together.
	sound int
	joint bool
	// pod and node are what they want within the two windows beyond what they have.
	pod, node quantiles
	// placed and waiting are what they have.
	placed, waiting float64
}

// quantiles are those of a sum: the one that is to be covered, the median, and the sum of the members' own.
type quantiles struct {
	high, median, apart float64
}

func ask(p Pool, members []Member) demand {
	d := demand{all: askers(p, members)}
	sound := make([]*asker, 0, len(d.all))
	for i := range d.all {
		a := &d.all[i]
		d.placed += a.chunks * count(a.Placed)
		d.waiting += a.chunks * count(a.Waiting)
		if a.doubt == "" {
			sound = append(sound, a)
			continue
		}
		if a.target > 0 && a.target <= largest {
			// Nothing is known but what is served, which its autoscalers ask for already.
			d.pod.add(a.beyond(0))
			d.node.add(a.beyond(0))
		}
	}
	d.sound = len(sound)
	d.joint = together(p, sound, &d.pod, &d.node)
	return d
}

// add takes what is wanted whatever comes.
func (q *quantiles) add(chunks float64) {
	q.high += chunks
	q.median += chunks
	q.apart += chunks
}

// chunks rounds up to whole chunks, once.
func chunks(x float64) int { return int(min(max(math.Ceil(x-grain), 0), unlimited)) }

// largest is what the largest replica of the members takes, in whole chunks.
func (d *demand) largest() int {
	out := 0
	for i := range d.all {
		out = max(out, chunks(d.all[i].chunks))
	}
	return out
}
