package fleets

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/run"
)

const (
	// writesPerSecond and burst bound all writes together.
	writesPerSecond = 5
	burst           = 50
	// routinePause is the minimum interval between two writes of a fleet in which no condition changes.
	routinePause = time.Minute
)

// Writer writes the status of a fleet; a Watch implements it.
type Writer interface {
	// UpdateStatus fails if the fleet has changed since it was read.
	UpdateStatus(ctx context.Context, f *Fleet, status *v1alpha1.GPUFleetStatus) error
}

// StatusWriter writes the statuses, and has the metrics. Only the leader may run it.
type StatusWriter struct {
	planner *Planner
	writer  Writer
	log     *slog.Logger
	events  writes.Events
	queue   *writes.Queue
	// told are the fleets of the newest step, for the metrics; nil while this replica does not lead.
	told atomic.Pointer[[]planned]
}

// NewStatusWriter returns a writer for the fleets of a planner.
func NewStatusWriter(planner *Planner, writer Writer, log *slog.Logger) *StatusWriter {
	return &StatusWriter{
		planner: planner, writer: writer, log: log,
		queue: writes.NewQueue(v1alpha1.GPUFleetKind, writesPerSecond, burst, log),
	}
}

// SetEvents sets where events are sent. Call it before Run.
func (w *StatusWriter) SetEvents(events writes.Events) {
	w.events = events
	w.queue.SetEvents(events)
}

// Refused has the metric of the fleets whose status is refused.
func (w *StatusWriter) Refused() *writes.Queue { return w.queue }

// Run writes until the context ends.
func (w *StatusWriter) Run(ctx context.Context, clock run.Clock) {
	defer w.told.Store(nil)
	defer w.queue.Reset()
	changes.Repeat(ctx, clock, Step, func(now time.Time) error { return w.Step(ctx, now) }, func(err error) {
		w.log.WarnContext(ctx, "cannot write the status of GPUFleets, retrying", "error", err)
	})
}

// Step writes the statuses of the newest plans that have changed, as far as the rate allows. The error is one that affects every write.
func (w *StatusWriter) Step(ctx context.Context, now time.Time) error {
	newest := w.planner.newest.Load()
	if newest == nil {
		return nil
	}
	w.told.Store(newest)
	current := map[types.UID]*Fleet{} // A plan may be older than the newest write.
	for _, f := range w.planner.Fleets.List() {
		current[f.UID] = f
	}
	var due []writes.Write
	exists := map[types.UID]bool{}
	for i := range *newest {
		one := (*newest)[i]
		f := current[one.UID]
		if f == nil {
			continue
		}
		exists[f.UID] = true
		if f.Generation != one.Generation || one.capacity.pending {
			continue
		}
		one.Fleet = f
		after := one.status(now)
		urgent := f.Status.ObservedGeneration != after.ObservedGeneration ||
			!slices.EqualFunc(f.Status.Conditions, after.Conditions, v1alpha1.SameCondition)
		if equality.Semantic.DeepEqual(&f.Status, after) || !urgent && now.Sub(w.queue.Tried(f, now)) < routinePause {
			continue
		}
		due = append(due, writes.Write{Object: f.GPUFleet, Urgent: urgent, Do: func(ctx context.Context) error {
			err := w.writer.UpdateStatus(ctx, f, after)
			if err == nil {
				w.emit(f, after)
			}
			return err
		}})
	}
	w.queue.Keep(exists)
	_, err := w.queue.Step(ctx, now, due)
	return err
}

// emit emits an event for each condition that became a problem, or no longer is one.
func (w *StatusWriter) emit(f *Fleet, after *v1alpha1.GPUFleetStatus) {
	if w.events == nil {
		return
	}
	writes.EachChange(f.Status.Conditions, after.Conditions, func(kind, reason, message string) {
		w.events.Event(f.GPUFleet, kind, reason, v1alpha1.ClipEvent(message))
	}, v1alpha1.FleetConditionShortage)
}

var _ prometheus.Collector = (*StatusWriter)(nil)

func newDesc(name, help string, further ...string) *prometheus.Desc {
	return prometheus.NewDesc("forewarm_fleet_"+name, help, append([]string{"namespace", "fleet"}, further...), nil)
}

//nolint:gochecknoglobals // Constants.
var (
	gpusDesc    = newDesc("gpus", "GPUs of the fleet.")
	membersDesc = newDesc("member_gpus", "GPUs that the members hold or ask for.")
	otherDesc   = newDesc("other_gpus", "GPUs of pods that belong neither to members nor to batch work.")
	spareDesc   = newDesc("spare_replicas",
		"Replicas of a consumer that may run now, including those that run. Absent for a consumer that is refused.",
		"batch")
	runningDesc  = newDesc("running_replicas", "Replicas of a consumer that hold GPUs or wait for them.", "batch")
	shortageDesc = newDesc("shortage_gpus",
		"GPUs that will be missing at the worst time of the next shortage within a day. 0 without a shortage.")
)

// Describe implements prometheus.Collector.
func (*StatusWriter) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{gpusDesc, membersDesc, otherDesc, spareDesc, runningDesc, shortageDesc} {
		out <- d
	}
}

// Collect sends the metrics of every fleet that has a plan. Only the leader sends any, so that a sum over replicas counts each fleet once.
func (w *StatusWriter) Collect(out chan<- prometheus.Metric) {
	newest := w.told.Load()
	if newest == nil {
		return
	}
	for i := range *newest {
		o := &(*newest)[i]
		if !o.hasPlan() {
			continue
		}
		send := func(d *prometheus.Desc, v float64, further ...string) {
			labels := append([]string{o.Namespace, o.Name}, further...)
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
		}
		send(gpusDesc, o.Plan.GPUs)
		send(membersDesc, o.Plan.Members)
		send(otherDesc, o.Plan.Other)
		missing := 0.0
		if o.shortage != nil {
			missing = o.shortage.Need - o.shortage.GPUs
		}
		send(shortageDesc, missing)
		for j := range o.Plan.Batch {
			send(spareDesc, float64(o.Plan.Batch[j].Replicas), o.Plan.Batch[j].Name)
		}
		for j := range o.Resolved.Batch {
			send(runningDesc, float64(o.batch.running[j]), o.Resolved.Batch[j].Name)
		}
	}
}
