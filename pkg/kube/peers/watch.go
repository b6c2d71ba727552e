package peers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/run"
)

const (
	// interval is how often a replica publishes its Statement and reads the Statements of the others.
	interval = 15 * time.Second
	// gone is how long a Statement stays if it is not published again. It is longer than two failed publications.
	gone = 45 * time.Second
	// rollout is how long replicas may differ before the condition reports it. During a rollout they always differ.
	rollout = 10 * time.Minute
	// timeout bounds one exchange.
	timeout = 10 * time.Second
)

// Watch publishes the Statement of this adapter replica, and compares it with those of the others. It is safe for concurrent use.
type Watch struct {
	leases coordination.LeaseInterface
	lease  forecasts.LeaseConfig
	own    func() Statement
	log    *slog.Logger

	// seen has what was read of each other replica, and when that last changed. The time is from this machine's clock, because the clocks of
	// the others may be wrong.
	seen map[string]observation

	mu sync.Mutex
	// now is the time of the newest exchange. since is when each current reason began to apply.
	now         time.Time
	differences []Difference
	since       map[string]time.Time
}

type observation struct {
	published, changed time.Time
}

// New returns a Watch over the leader's lease. It sends no requests before Run.
func New(cluster *rest.Config, lease forecasts.LeaseConfig, own func() Statement, log *slog.Logger) (*Watch, error) {
	client, err := coordination.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create a client for the lease: %w", err)
	}
	return &Watch{
		leases: client.Leases(lease.Namespace), lease: lease, own: own, log: log, seen: map[string]observation{},
	}, nil
}

// Run exchanges Statements until the context ends.
func (w *Watch) Run(ctx context.Context, clock run.Clock) {
	changes.Repeat(ctx, clock, interval, func(now time.Time) error { return w.Step(ctx, now) }, func(err error) {
		w.log.WarnContext(ctx, "cannot compare this replica with the others, retrying", "error", err)
	})
}

// Step exchanges Statements once.
func (w *Watch) Step(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	all, err := w.exchange(ctx, now)
	if err == nil {
		w.set(ctx, Compare(all), now)
		return nil
	}
	w.forget(now)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		// Another replica has written the Lease since it was read, or no replica has led yet. The next step tries again.
		return nil
	}
	return fmt.Errorf(
		"exchange versions, settings and clocks through the annotation %s of the Lease %s/%s: %w",
		Annotation,
		w.lease.Namespace,
		w.lease.Name,
		err,
	)
}

// exchange publishes this replica's Statement next to those of the other running replicas, and returns all of them.
func (w *Watch) exchange(ctx context.Context, now time.Time) (map[string]Statement, error) {
	lease, err := w.leases.Get(ctx, w.lease.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err //nolint:wrapcheck // Step does.
	}
	all := Read(lease)
	delete(all, w.lease.Identity)
	w.dropGone(all, now)
	own := w.own().limited()
	own.At = now.UTC()
	all[w.lease.Identity] = own
	if err = write(lease, all); err != nil {
		return nil, err
	}
	_, err = w.leases.Update(ctx, lease, metav1.UpdateOptions{FieldManager: "forewarm"})
	return all, err //nolint:wrapcheck // Step does.
}

// dropGone drops the Statements that have not been published again for a while.
func (w *Watch) dropGone(others map[string]Statement, now time.Time) {
	maps.DeleteFunc(w.seen, func(name string, _ observation) bool { _, found := others[name]; return !found })
	for name := range others {
		last, found := w.seen[name]
		// This machine's clock may have been set back.
		if !found || !last.published.Equal(others[name].At) || now.Before(last.changed) {
			last = observation{others[name].At, now}
			w.seen[name] = last
		}
		if now.Sub(last.changed) >= gone {
			delete(others, name)
		}
	}
}

// set stores the differences that were found, and logs the new ones.
func (w *Watch) set(ctx context.Context, found []Difference, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since := map[string]time.Time{}
	for _, d := range found {
		began, known := w.since[d.Reason]
		if !known {
			w.log.WarnContext(ctx, "replicas differ, so they may serve different values", "reason", d.Reason,
				"difference", d.Message)
		}
		if !known || now.Before(began) {
			began = now
		}
		since[d.Reason] = began
	}
	w.now, w.differences, w.since = now, found, since
}

// forget drops the differences once they are too old to be still true.
func (w *Watch) forget(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.now).Abs() >= gone {
		w.differences, w.since = nil, nil
	}
}

// Conditions returns the condition ReplicasAgree while replicas differ. Different clocks are a fault at once. Different versions and
// settings are part of every rollout, and are one only after ten minutes.
func (w *Watch) Conditions() []snapshot.Condition {
	w.mu.Lock()
	defer w.mu.Unlock()
	reason, messages := "", []string(nil)
	for _, d := range w.differences {
		if d.Reason != reasonClocksDiffer && w.now.Sub(w.since[d.Reason]) < rollout {
			continue
		}
		reason = cmp.Or(reason, d.Reason)
		messages = append(messages, d.Message)
	}
	if reason == "" {
		return nil
	}
	return []snapshot.Condition{
		{Type: snapshot.ConditionReplicas, Reason: reason, Message: strings.Join(messages, ". ")},
	}
}

var _ prometheus.Collector = (*Watch)(nil)

// differDesc describes the metric that is 1 while replicas differ in a subject.
var differDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_replicas_differ",
	"1 if replicas of Forewarm differ in something that affects the served values, otherwise 0. The label reason contains the reasons of "+
		"the condition ReplicasAgree.",
	[]string{"reason"},
	nil,
)

// Describe implements prometheus.Collector.
func (*Watch) Describe(out chan<- *prometheus.Desc) { out <- differDesc }

// Collect sends a gauge for each reason; none before the first comparison.
func (w *Watch) Collect(out chan<- prometheus.Metric) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.IsZero() {
		return
	}
	for _, reason := range reasons() {
		value := 0.0
		if _, holds := w.since[reason]; holds {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(differDesc, prometheus.GaugeValue, value, reason)
	}
}
