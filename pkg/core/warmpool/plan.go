package warmpool

import (
	"math"
	"time"
)

// Plan says what the pool should hold at the time now, and what is to be remembered of it. It is deterministic, and finite
// whatever the members say.
//
// The chain, with numbers: two members want 5 chunks beyond what they have within the window of a pod and a node, and 2
// within that of a pod: 5. At least 1 and at most 4 may be held: 4. While a member is in doubt at least the fallback, 3:
// still 4. Six were wanted three minutes ago, but 4 was the most then too: 4, kept for as long as a node takes unless
// members' replicas take them. Once the budget is spent no more than the fallback: 3. A gang of two wants whole gangs: 4.
func (m Memory) Plan(now time.Time, p Pool, members []Member, c Capacity) (Plan, Memory) {
	p, c = p.bounded(), c.bounded()
	s := situation{pool: p, capacity: c, at: instant(now), demand: ask(p, members)}
	next := m.past
	next.count(s.at)
	next.borrow(s.at, s.demand.placed, c)
	s.idle = next.idle(p.GPUs)
	s.spent = p.Budget > 0 && s.idle >= p.Budget
	s.bound()
	s.hold(&next)
	s.limit()
	out := s.plan()
	out.Covers = next.cover(s.at, breakEven(p.Node), s.stands(), c.Ready >= out.Want && s.asked <= p.Max)
	out.Borrowed = int(next.Borrowed / 1000)
	out.Why, out.Next = s.why(&out), s.next(&out, &next)
	next.At, next.Ready = s.at, int64(c.Ready)
	next.Placed = thousandths(s.demand.placed)
	return out, Memory{past: next}
}

// situation is a plan in the making.
type situation struct {
	pool     Pool
	capacity Capacity
	at       int64
	demand   demand
	idle     float64
	spent    bool

	// asked are the chunks that the members want, unbounded; wanted and base the same within the bounds, before what is
	// kept; kept is the want that is held, total and half are what comes out.
	asked, wanted, base int
	kept                Want
	total, half         int
}

// bound is what is wanted now, within what may be held.
func (s *situation) bound() {
	d, p := &s.demand, &s.pool
	s.asked = chunks(max(d.pod.high, d.node.high))
	s.wanted = max(s.asked, p.Min)
	s.base = max(chunks(max(d.pod.median, d.node.median)), p.Min)
	if s.doubted() {
		if d.sound == 0 {
			s.wanted, s.base = p.Min, p.Min
		}
		// What is held in any case is of the type that can be relied on.
		s.wanted, s.base = max(s.wanted, p.Fallback), max(s.base, p.Fallback)
	}
	s.wanted = min(s.wanted, p.Max)
	s.base = min(s.base, s.wanted)
}

// hold keeps what was wanted, and was not taken by members' replicas, for as long as getting it again takes, and what is
// held when there is no past to know it by or a member begins to be in doubt.
func (s *situation) hold(m *past) {
	span := breakEven(s.pool.Node)
	claimed := int64(min(s.demand.placed+s.demand.waiting+grain, unlimited))
	if m.At != 0 {
		m.wants.take(max(0, claimed-m.Claimed))
	}
	m.Claimed = claimed
	if m.At == 0 || m.since(s.at) > max(span, longestGap) || s.doubted() && !m.Unreliable {
		m.wants.add(Want{At: s.at, Total: int64(min(s.capacity.Held, s.pool.Max)), Base: int64(s.base)}, span)
	}
	m.Unreliable = s.doubted()
	m.wants.add(Want{At: s.at, Total: int64(s.wanted), Base: int64(s.base)}, span)
	s.kept = m.wants.highest()
	s.total = min(int(s.kept.Total), s.pool.Max)
	s.half = min(int(s.kept.Base), s.total)
}

// limit is the last word: the budget, and whole gangs.
func (s *situation) limit() {
	p := &s.pool
	if s.spent {
		s.total = min(s.total, max(p.Fallback, p.Min))
	}
	gang := s.demand.gang()
	whole := (s.total + gang - 1) / gang * gang
	if whole > p.Max {
		whole = p.Max / gang * gang
	}
	s.total = max(whole, p.Min)
	s.half = min((s.half+gang-1)/gang*gang, s.total)
	if !p.Split {
		s.half = s.total
	}
}

// plan is what comes out, but for its words and what is remembered.
func (s *situation) plan() Plan {
	out := Plan{
		Want: s.total, Base: s.half, Tail: s.total - s.half,
		Pod: chunks(s.demand.pod.high), Node: chunks(s.demand.node.high),
		Idle: s.idle, Left: max(0, s.pool.Budget-s.idle), State: Ready,
	}
	switch {
	case s.spent:
		out.State = OverBudget
	case s.doubted():
		out.State = FallingBack
	case s.capacity.Ready < out.Want:
		out.State = Filling
	}
	return out
}

func (s *situation) doubted() bool { return s.demand.sound < len(s.demand.all) }

// stands is how the pool stands to all that the members may want within a pod's window: for replicas that wait for a place
// too, and for one more of any member, since an empty pool stands ready for nothing, however little is wanted of it.
// (Played on 14 days of requests: without that a pool of one member covered it four fifths of the time with 1.3 chunks on
// average, and 1.6 % of the demand was late; with it 1.25 %.)
func (s *situation) stands() stand {
	missing := max(chunks(s.demand.pod.high+s.demand.waiting), s.demand.largest())
	switch {
	case len(s.demand.all) == 0 || s.doubted() || s.spent:
		return unable
	case s.capacity.Ready < missing:
		return refilling
	}
	return prepared
}

// gang is the greatest number of chunks that every member's replica takes a multiple of: what is held is, too.
func (d *demand) gang() int {
	out := 0
	for i := range d.all {
		a := d.all[i].chunks
		if a != math.Trunc(a) {
			return 1
		}
		for b := int(a); b != 0; {
			out, b = b, out%b
		}
	}
	return max(out, 1)
}

// bounded are the numbers of a pool within what can be reckoned with.
func (p Pool) bounded() Pool {
	within := func(n int) int { return min(max(n, 0), unlimited) }
	p.Max = within(p.Max)
	p.Min, p.Fallback = min(within(p.Min), p.Max), min(within(p.Fallback), p.Max)
	if !(p.Quantile >= 0.5 && p.Quantile <= 1) {
		p.Quantile = 0.95
	}
	if !(p.GPUs >= 0 && p.GPUs <= unlimited) {
		p.GPUs = 0
	}
	if !(p.Budget >= 0 && p.Budget <= largest) {
		p.Budget = 0
	}
	p.Pod, p.Node = min(max(p.Pod, 0), longestLead), min(max(p.Node, 0), longestLead)
	return p
}

// longestLead is the longest lead time that is planned for.
const longestLead = 24 * time.Hour

func (c Capacity) bounded() Capacity {
	return Capacity{Held: min(max(c.Held, 0), unlimited), Ready: min(max(c.Ready, 0), unlimited)}
}
