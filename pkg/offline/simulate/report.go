package simulate

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// Report is the result of a run without its warm-up. Demand and replicas are in replica-hours.
type Report struct {
	// Duration that was counted.
	Duration time.Duration
	// ReplicaHours are the replica-hours paid for. Multiplied by the GPUs per replica, they are GPU-hours. IdleReplicaHours is the
	// part in which a warm pool held a place that no replica had taken.
	ReplicaHours, IdleReplicaHours float64
	// Hourly are the replica-hours of each counted hour. The newest hour may be incomplete.
	Hourly []float64
	// Arrived is the demand; Late is the part that waited longer than the limit.
	Arrived, Late float64
	// BadHours are the hours in which more than a tenth of the demand was late.
	BadHours sim.BadHours
	// Served and Dropped are the demand that was served and dropped. Carried is the demand that waited at the start, and Backlog the
	// demand that waits at the end: Carried + Arrived = Served + Dropped + Backlog.
	Served, Dropped, Carried, Backlog float64
	// Started and Stopped count replicas. WaitedForNode of the started replicas found no place and waited for a node. NodeWait is
	// the sum of their waits.
	Started, Stopped, WaitedForNode int
	NodeWait                        time.Duration
	// Deferrable is the deferrable work, and Missed the part of it that missed its deadline.
	Deferrable, Missed float64
	// ColdStarts is how often demand arrived while no replica was ready. Each such period counts once.
	ColdStarts int
	// Peak is the highest number of replicas that was requested.
	Peak int

	inColdStart bool
}

// count adds a step that ended at a time; known reports whether its demand is known.
func (r *Report) count(m *sim.StepResult, end time.Time, step time.Duration, known bool) {
	if known {
		r.BadHours.Add(end, step, m.Arrived, m.Late)
	}
	if hour := int(r.Duration / time.Hour); hour == len(r.Hourly) {
		r.Hourly = append(r.Hourly, 0)
	}
	r.Duration += step
	r.ReplicaHours += float64(m.Held) * step.Hours()
	r.Hourly[len(r.Hourly)-1] += float64(m.Held) * step.Hours()
	r.IdleReplicaHours += float64(m.Idle) * step.Hours()
	r.Arrived += m.Arrived
	r.Late += m.Late
	r.Served += m.Served
	r.Dropped += m.Dropped
	r.Backlog = m.Backlog
	r.Deferrable += m.Deferrable
	r.Missed += m.Missed
	r.Started += m.Started
	r.Stopped += m.Stopped
	r.WaitedForNode += m.Queued
	r.NodeWait += time.Duration(m.Waiting) * step
	r.Peak = max(r.Peak, m.Replicas)
	if cold := m.Ready == 0 && (m.Arrived > 0 || r.inColdStart); cold != r.inColdStart {
		r.inColdStart = cold
		if cold {
			r.ColdStarts++
		}
	}
}

// SumReports adds up the reports of workloads that were simulated together. The Duration is the duration of one simulation.
func SumReports(all []Report) Report {
	var out Report
	for i := range all {
		r := &all[i]
		out.Duration = max(out.Duration, r.Duration)
		out.ReplicaHours += r.ReplicaHours
		out.IdleReplicaHours += r.IdleReplicaHours
		for hour, v := range r.Hourly {
			if hour == len(out.Hourly) {
				out.Hourly = append(out.Hourly, 0)
			}
			out.Hourly[hour] += v
		}
		out.Arrived += r.Arrived
		out.Late += r.Late
		out.BadHours.Merge(&r.BadHours)
		out.Served += r.Served
		out.Dropped += r.Dropped
		out.Carried += r.Carried
		out.Backlog += r.Backlog
		out.Deferrable += r.Deferrable
		out.Missed += r.Missed
		out.Started += r.Started
		out.Stopped += r.Stopped
		out.WaitedForNode += r.WaitedForNode
		out.NodeWait += r.NodeWait
		out.ColdStarts += r.ColdStarts
		out.Peak += r.Peak
	}
	return out
}

// RelativeCost is the replica-hours paid for, divided by the replica-hours of the demand including deferrable work. 1 is perfect, and
// 2 means that half of the capacity was idle. It is NaN without demand.
func (r *Report) RelativeCost() float64 {
	return ratio(r.ReplicaHours, r.Arrived+r.Deferrable, math.NaN())
}

// MissedShare is the share of the deferrable work that missed its deadline; 0 without any.
func (r *Report) MissedShare() float64 { return ratio(r.Missed, r.Deferrable, 0) }

// LimitedShare is the share of the demand that an objective limits: the demand in bad hours, or the late demand.
func (r *Report) LimitedShare(badHours bool) float64 {
	if badHours {
		return r.BadHours.Share()
	}
	return r.LateShare()
}

// WorstShare is the larger of LimitedShare and MissedShare. An objective limits both.
func (r *Report) WorstShare(badHours bool) float64 {
	return max(r.LimitedShare(badHours), r.MissedShare())
}

// LateShare is the share of the demand that was late; 0 without demand.
func (r *Report) LateShare() float64 { return ratio(r.Late, r.Arrived, 0) }

// DroppedShare is the share of the demand that left unserved; 0 without demand.
func (r *Report) DroppedShare() float64 { return ratio(r.Dropped, r.Arrived, 0) }

// ChurnPerHour is how many replicas were started or stopped per hour. It is 0 if no time was counted.
func (r *Report) ChurnPerHour() float64 {
	return ratio(float64(r.Started+r.Stopped), r.Duration.Hours(), 0)
}

// MeanNodeWait is the mean time that a started replica waited for a node. It is 0 if no replica was started.
func (r *Report) MeanNodeWait() time.Duration {
	if r.Started == 0 {
		return 0
	}
	return r.NodeWait / time.Duration(r.Started)
}

func ratio(of, to, otherwise float64) float64 {
	if to > 0 {
		return of / to
	}
	return otherwise
}
