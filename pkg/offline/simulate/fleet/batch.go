package fleet

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// batch is batch work that always has more to do. It holds the places of its runs, which members take when nothing else is
// free.
type batch struct {
	*Config
	Outcome

	// allowed returns how many replicas of each consumer may run; nil in a static partition.
	allowed func(at time.Time, all []sim.Placement) []int
	// from is the time from which runs are counted.
	from time.Time
	// running are the runs, oldest first. used are the places that they hold.
	running []runs
	used    int
	// stopped reports that the simulation is interrupted: nothing starts or ends any more.
	stopped func() bool
}

// runs are n runs of a consumer that started together.
type runs struct {
	of, n      int
	start, end time.Time
}

// Hold implements simulate.Pool. It ends runs, starts others, and returns the places that all hold.
func (b *batch) Hold(at time.Time, all []sim.Placement) int {
	if b.stopped() {
		return b.used
	}
	m := Moment{Policy: b.Policy, At: at}
	for b.used > all[0].Held { // Members took places. The scheduler preempts the newest run first.
		m.Killed += b.killNewest(at, b.used-all[0].Held)
	}
	counts := make([]int, len(b.Batch))
	left := b.running[:0]
	for _, r := range b.running {
		if r.end.After(at) {
			left = append(left, r)
			counts[r.of] += r.n
			continue
		}
		b.used -= r.n * places(b.Batch[r.of].GPUs)
		if !at.Before(b.from) {
			counted := min(r.end.Sub(r.start), r.end.Sub(b.from))
			b.Done += float64(r.n) * counted.Hours() * b.Batch[r.of].GPUs
		}
	}
	b.running = left
	free := places(b.GPUs) - b.used
	for i := range all {
		free -= all[i].Placed * places(b.Members[i].GPUs)
	}
	m.Members = b.GPUs - float64(b.used+free)/milli
	for i, allowed := range b.allowed(at, all) {
		size := places(b.Batch[i].GPUs)
		n := min(allowed-counts[i], free/size)
		if n <= 0 {
			continue
		}
		b.running = append(b.running, runs{i, n, at, at.Add(b.Batch[i].Run)})
		b.used, free = b.used+n*size, free-n*size
		m.Started += n
		if !at.Before(b.from) {
			b.Runs += n
		}
	}
	if b.Record != nil {
		m.Batch = float64(b.used) / milli
		b.Record(m)
	}
	return b.used
}

// killNewest kills as many of the newest runs that started together as hold so many places, and returns how many.
func (b *batch) killNewest(at time.Time, wanted int) int {
	last := len(b.running) - 1
	newest := &b.running[last]
	size := places(b.Batch[newest.of].GPUs)
	n := min(newest.n, (wanted+size-1)/size)
	b.used -= n * size
	if !at.Before(b.from) {
		b.Killed += float64(n) * at.Sub(newest.start).Hours() * b.Batch[newest.of].GPUs
		b.KilledRuns += n
	}
	if newest.n -= n; newest.n == 0 {
		b.running = b.running[:last]
	}
	return n
}

// fill counts runs on all GPUs but a static part, at all times. None of them is killed.
func (b *batch) fill(static, hours float64) {
	for i, n := range b.replicas(func(fleet.Consumer) float64 { return static }) {
		b.Done += float64(n) * b.Batch[i].GPUs * hours
		b.Runs += int(float64(n) * hours / b.Batch[i].Run.Hours())
	}
}
