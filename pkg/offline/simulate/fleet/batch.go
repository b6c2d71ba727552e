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
	running []run
	used    int
}

// run is one run of a consumer.
type run struct {
	of         int
	start, end time.Time
}

// Hold implements simulate.Pool. It ends runs, starts others, and returns the places that all hold.
func (b *batch) Hold(at time.Time, all []sim.Placement) int {
	m := Moment{Policy: b.Policy, At: at}
	for b.used > all[0].Held { // Members took places. The scheduler preempts the newest run first.
		newest := len(b.running) - 1
		m.Killed++
		b.kill(at, b.running[newest])
		b.running = b.running[:newest]
	}
	counts := make([]int, len(b.Batch))
	left := b.running[:0]
	for _, r := range b.running {
		if r.end.After(at) {
			left = append(left, r)
			counts[r.of]++
			continue
		}
		b.used -= places(b.Batch[r.of].GPUs)
		if !at.Before(b.from) {
			b.Done += r.end.Sub(r.start).Hours() * b.Batch[r.of].GPUs
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
		for ; counts[i] < allowed && free >= size; counts[i]++ {
			b.running = append(b.running, run{i, at, at.Add(b.Batch[i].Run)})
			b.used, free = b.used+size, free-size
			m.Started++
			if !at.Before(b.from) {
				b.Runs++
			}
		}
	}
	if b.Record != nil {
		m.Batch = float64(b.used) / milli
		b.Record(m)
	}
	return b.used
}

func (b *batch) kill(at time.Time, r run) {
	b.used -= places(b.Batch[r.of].GPUs)
	if !at.Before(b.from) {
		b.Killed += at.Sub(r.start).Hours() * b.Batch[r.of].GPUs
		b.KilledRuns++
	}
}

// fill counts runs on all GPUs but a static part, at all times. None of them is killed.
func (b *batch) fill(static, hours float64) {
	for i, n := range b.replicas(func(fleet.Consumer) float64 { return static }) {
		b.Done += float64(n) * b.Batch[i].GPUs * hours
		b.Runs += int(float64(n) * hours / b.Batch[i].Run.Hours())
	}
}
