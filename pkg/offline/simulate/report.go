package simulate

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
)

// Report is the outcome of a run, its warm-up left out. Demand and replicas are in replica-hours.
type Report struct {
	// Duration that was counted.
	Duration time.Duration
	// Replicas are the replica-hours that were paid for: times the GPUs of a replica, the GPU-hours. Idle is the part of them
	// in which a warm pool held a place that no replica had taken.
	Replicas, Idle float64
	// Arrived is the demand; Late is the part of it that met a wait over the limit.
	Arrived, Late float64
	// Served and Unserved are what became of it; Carried waited at the start and Backlog waits at the end:
	// Carried + Arrived = Served + Unserved + Backlog.
	Served, Unserved, Carried, Backlog float64
	// Started and Stopped replicas. Queued of those that were started found no place and waited for a node, and Waiting is how
	// long all of them did together.
	Started, Stopped, Queued int
	Waiting                  time.Duration
	// ColdStarts is how often demand came and nobody was ready: each spell counts once.
	ColdStarts int
	// Peak is the most replicas that were asked for at once.
	Peak int

	cold bool
}

// count adds a step.
func (r *Report) count(m *hpasim.Moment, step time.Duration) {
	r.Duration += step
	r.Replicas += float64(m.Held) * step.Hours()
	r.Idle += float64(m.Idle) * step.Hours()
	r.Arrived += m.Arrived
	r.Late += m.Late
	r.Served += m.Served
	r.Unserved += m.Unserved
	r.Backlog = m.Backlog
	r.Started += m.Started
	r.Stopped += m.Stopped
	r.Queued += m.Queued
	r.Waiting += time.Duration(m.Waiting) * step
	r.Peak = max(r.Peak, m.Replicas)
	if cold := m.Ready == 0 && (m.Arrived > 0 || r.cold); cold != r.cold {
		r.cold = cold
		if cold {
			r.ColdStarts++
		}
	}
}

// Sum is what came of several workloads that were played together. Its Duration is that of one.
func Sum(all []Report) Report {
	var out Report
	for i := range all {
		r := &all[i]
		out.Duration = max(out.Duration, r.Duration)
		out.Replicas += r.Replicas
		out.Idle += r.Idle
		out.Arrived += r.Arrived
		out.Late += r.Late
		out.Served += r.Served
		out.Unserved += r.Unserved
		out.Carried += r.Carried
		out.Backlog += r.Backlog
		out.Started += r.Started
		out.Stopped += r.Stopped
		out.Queued += r.Queued
		out.Waiting += r.Waiting
		out.ColdStarts += r.ColdStarts
		out.Peak += r.Peak
	}
	return out
}

// Cost is the replica-hours paid for over those of the demand: 1 is perfection, 2 half idle. NaN without demand.
func (r *Report) Cost() float64 { return ratio(r.Replicas, r.Arrived, math.NaN()) }

// LateShare is the share of the demand that was late; 0 without demand.
func (r *Report) LateShare() float64 { return ratio(r.Late, r.Arrived, 0) }

// UnservedShare is the share of the demand that left unserved; 0 without demand.
func (r *Report) UnservedShare() float64 { return ratio(r.Unserved, r.Arrived, 0) }

// ChurnPerHour is how many replicas were started or stopped in an hour; 0 where no time was counted.
func (r *Report) ChurnPerHour() float64 {
	return ratio(float64(r.Started+r.Stopped), r.Duration.Hours(), 0)
}

// MeanWait is how long a replica that was started waited for a node, the mean over all of them; 0 where none was.
func (r *Report) MeanWait() time.Duration {
	if r.Started == 0 {
		return 0
	}
	return r.Waiting / time.Duration(r.Started)
}

func ratio(of, to, otherwise float64) float64 {
	if to > 0 {
		return of / to
	}
	return otherwise
}
