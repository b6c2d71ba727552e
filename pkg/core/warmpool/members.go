package warmpool

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const (
	// unlimited is a number of replicas, or of chunks, beyond any cluster.
	unlimited = 1_000_000
	// maxDemand is the largest demand; a larger one is an error.
	maxDemand = 1e100
	// grain is the rounding error of sums of fractions: ten replicas of a tenth of a chunk are one chunk.
	grain = 1e-6
)

// plannedMember is a member with its numbers bounded.
type plannedMember struct {
	*Member
	unreliable string
	// chunks and target as in Member; chunks is 0 where it is invalid.
	chunks, target float64
	// have is the number of replicas that have a place or wait for one. minReplicas and maxReplicas limit what the
	// autoscalers request; minReplicas is at least what the served value requests now.
	have, minReplicas, maxReplicas float64
	// pod and node are the distributions over the two windows, of reliable members only.
	pod, node windowpeak.Quantiles
}

// plannedMembers returns the members in order of name, so that their input order changes nothing.
func plannedMembers(p Pool, members []Member) []plannedMember {
	out := make([]plannedMember, len(members))
	for i := range members {
		out[i] = newPlannedMember(p, &members[i])
	}
	slices.SortStableFunc(out, func(a, b plannedMember) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func newPlannedMember(p Pool, m *Member) plannedMember {
	a := plannedMember{Member: m, unreliable: m.Outlook.Unreliable, chunks: m.Chunks, target: m.Target}
	a.have = boundedCount(m.Placed) + boundedCount(m.Waiting)
	a.maxReplicas = unlimited
	if m.MaxReplicas > 0 {
		a.maxReplicas = boundedCount(m.MaxReplicas)
	}
	switch {
	case !(m.Chunks > 0 && m.Chunks <= unlimited):
		a.chunks, a.unreliable = 0, cmp.Or(a.unreliable, "has no number of chunks per replica")
	case !(m.Target > 0 && m.Target <= maxDemand):
		a.unreliable = cmp.Or(a.unreliable, "has no target")
	case a.unreliable == "" && !usable(m.Outlook.Windows):
		a.unreliable = "has no forecast"
	}
	a.minReplicas = min(boundedCount(m.MinReplicas), a.maxReplicas)
	if isDemand(m.Target) && m.Target > 0 && isDemand(m.Outlook.Served) {
		a.minReplicas = a.replicas(m.Outlook.Served)
	}
	if a.unreliable == "" {
		a.pod = distributionWithin(m.Outlook.Windows, leadtime.Window(p.Pod))
		a.node = distributionWithin(m.Outlook.Windows, leadtime.Window(p.Pod+p.Node))
	}
	return a
}

// boundedCount returns a number of replicas within the supported range.
func boundedCount(n int) float64 { return float64(min(max(n, 0), unlimited)) }

// replicas returns the replicas that the autoscalers request for a demand.
func (a *plannedMember) replicas(demand float64) float64 {
	return min(max(math.Ceil(demand/a.target-grain), a.minReplicas), a.maxReplicas)
}

// beyond returns the chunks that a demand needs beyond what the member has. A member's surplus is no place for another:
// its autoscaler releases it in its own time.
func (a *plannedMember) beyond(demand float64) float64 {
	return a.chunks * max(0, a.replicas(demand)-a.have)
}

// demand is what the members need from the pool, in chunks.
type demand struct {
	members []plannedMember
	// reliable is the number of reliable members. joint is true where their common past was long enough to estimate how
	// they move together.
	reliable int
	joint    bool
	// pod and node are what they need within the two windows beyond what they have.
	pod, node quantiles
	// placed and waiting are the chunks of their replicas that have a place or wait for one.
	placed, waiting float64
}

// quantiles are those of a sum: high is the one to cover, apart the sum of the members' own quantiles.
type quantiles struct {
	high, median, apart float64
}

func demandOf(p Pool, members []Member) demand {
	d := demand{members: plannedMembers(p, members)}
	sound := make([]*plannedMember, 0, len(d.members))
	for i := range d.members {
		a := &d.members[i]
		d.placed += a.chunks * boundedCount(a.Placed)
		d.waiting += a.chunks * boundedCount(a.Waiting)
		if a.unreliable == "" {
			sound = append(sound, a)
			continue
		}
		if a.target > 0 && a.target <= maxDemand {
			// Only the served value is known, which the autoscalers request already.
			d.pod.add(a.beyond(0))
			d.node.add(a.beyond(0))
		}
	}
	d.reliable = len(sound)
	d.joint = addJoint(p, sound, &d.pod, &d.node)
	return d
}

// add adds chunks that are needed for certain.
func (q *quantiles) add(chunks float64) {
	q.high += chunks
	q.median += chunks
	q.apart += chunks
}

// chunks rounds up to whole chunks.
func chunks(x float64) int { return int(min(max(math.Ceil(x-grain), 0), unlimited)) }

// largestReplica returns the whole chunks of the largest replica of any member.
func (d *demand) largestReplica() int {
	out := 0
	for i := range d.members {
		out = max(out, chunks(d.members[i].chunks))
	}
	return out
}

// matchTime is how long a chunk that is no longer ready may match one that a member took: a placeholder pod goes some
// seconds before the pod that preempted it is bound.
const matchTime = 2 * time.Minute

// thousandths returns a number of chunks in thousandths.
func thousandths(chunks float64) int64 { return int64(math.Round(1000 * min(chunks, unlimited))) }

// addBorrowed counts what members' pods took from the pool: the chunks that both ceased to be ready and were taken by
// members within matchTime. A chunk is returned when it is ready again, or no longer held.
func (m *past) addBorrowed(at int64, placed float64, c Capacity) {
	if m.At == 0 {
		return
	}
	if m.Lost+m.Gained > 0 && (at < m.Matching || at-m.Matching > matchTime.Milliseconds()) {
		m.Lost, m.Gained = 0, 0
	}
	if m.Lost+m.Gained == 0 {
		m.Matching = at
	}
	changed := 1000 * (m.Ready - int64(c.Ready))
	m.Lost = min(m.Lost+max(0, changed), maxThousandths)
	m.Gained = min(m.Gained+max(0, thousandths(placed)-m.Placed), maxThousandths)
	took := min(m.Lost, m.Gained)
	m.Lost, m.Gained = m.Lost-took, m.Gained-took
	m.Borrowed = max(0, m.Borrowed+took-max(0, -changed))
	m.Borrowed = min(m.Borrowed, 1000*int64(max(0, c.Held-c.Ready)))
}

// readiness is whether a pool has what its members may need within the window of a pod.
type readiness int

const (
	// unable: it will not have it, because a member is unreliable or the budget is spent.
	unable readiness = iota
	// refilling: some of it was taken or is not ready yet, and will be.
	refilling
	// prepared: all of it is ready.
	prepared
)

// toCover is how long a pool must be prepared before it covers its members: twice a node's lead time, at most ten
// minutes. A change of cover changes the members' lead time, and with it the served values, so it should be rare.
func toCover(hold time.Duration) time.Duration { return min(2*hold, 10*time.Minute) }

// toUncover is how long a pool that is not prepared still covers. Where it is unable, that is short: two fifths of a
// node's lead time, at most two minutes. While it refills, it is twice a node's lead time: a surge takes the pool's
// capacity, as intended. If the members then used the long lead time again, they would request even more replicas at
// the moment at which there is no place for them. (Simulated: six members on 12 days of LLM requests, nodes of 8
// minutes, the 0.95 quantile. With two minutes for both, the pool covered 72 % of the time and 44,665 GPU-hours were
// used; with this rule 97 % and 41,137.)
func toUncover(s readiness, hold time.Duration) time.Duration {
	if s == refilling {
		return min(2*hold, 20*time.Minute)
	}
	return min(2*hold/5, 2*time.Minute)
}

// cover updates and returns whether the members are covered. settled means that the pool wants no more than it has and
// may hold.
func (m *past) cover(at int64, hold time.Duration, s readiness, settled bool) bool {
	covers := m.Covers
	opposite, after := s == prepared && settled, toCover(hold)
	if covers {
		opposite, after = s != prepared, toUncover(s, hold)
	}
	switch {
	case !opposite:
		m.TurningSince = 0
	case m.TurningSince == 0 || m.TurningSince > at || m.since(at) > longestGap:
		m.TurningSince = at
	case at-m.TurningSince >= after.Milliseconds():
		covers, m.TurningSince = !covers, 0
	}
	m.Covers = covers
	return covers
}
