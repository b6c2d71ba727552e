package warmpool

import "time"

// shortest is how long a chunk is held at least: wants that come and go between two plans give nothing back.
const shortest = 30 * time.Second

// breakEven is how long a chunk that is not wanted is kept: as long as getting it again would take. A chunk that is given
// back at that moment has stood idle for as long as its successor is paid for before it is of use, so that whatever comes
// the pool pays at most twice what one that knew the future would: the ski-rental rule (Karlin, Manasse, Rudolph and
// Sleator 1988), and no deterministic rule does better.
//
// Worked: nodes take 5 minutes. A want that falls from 6 to 4 and is back at 6 after 4 minutes costs 2 chunks 4 minutes
// idle, where giving them back would have cost each 5 and the load its wait. If it stays at 4, they go after 5 minutes.
func breakEven(node time.Duration) time.Duration { return max(node, shortest) }

// Want is what was wanted at a time (in Unix milliseconds), in chunks: in all, and of the first capacity type.
type Want struct {
	At, Total, Base int64
}

// slots are the parts that the time of a hold is divided into.
const slots = 32

// wants are those of the time that a chunk is held for, oldest first, one for each part of it: bounded, whatever the pace
// of the plans.
type wants struct {
	n   int
	all [slots + 1]Want
}

// add takes what is wanted now, and forgets what is older than the hold.
func (w *wants) add(now Want, hold time.Duration) {
	span := max(hold.Milliseconds(), 1)
	kept := 0
	for _, old := range w.all[:w.n] {
		// A want of the future is that of a clock that was set back.
		if old.At <= now.At && now.At-old.At < span {
			w.all[kept] = old
			kept++
		}
	}
	clear(w.all[kept:])
	w.n = kept
	part := max(span/slots, 1)
	switch last := w.n - 1; {
	case last >= 0 && w.all[last].At/part == now.At/part:
		w.all[last] = w.all[last].and(now)
	case w.n == len(w.all):
		// The hold was shorter before, and its parts finer.
		w.all[1] = w.all[1].and(w.all[0])
		copy(w.all[:], w.all[1:])
		w.all[last] = now
	default:
		w.all[w.n] = now
		w.n++
	}
}

// take lowers what is remembered by what members' replicas have taken since the last plan: what they have a place on, or
// wait for, is wanted no more. To keep it would be to buy it again.
func (w *wants) take(chunks int64) {
	for i := range w.all[:w.n] {
		w.all[i].Total = max(0, w.all[i].Total-chunks)
		w.all[i].Base = max(0, w.all[i].Base-chunks)
	}
}

// and is as late as the later of two, and as high as the higher.
func (a Want) and(b Want) Want {
	return Want{At: max(a.At, b.At), Total: max(a.Total, b.Total), Base: max(a.Base, b.Base)}
}

// highest is the most that was wanted, at the latest time that it was.
func (w *wants) highest() Want {
	var out Want
	for _, a := range w.all[:w.n] {
		if a.Total >= out.Total {
			out.At, out.Total = a.At, a.Total
		}
		out.Base = max(out.Base, a.Base)
	}
	return out
}
