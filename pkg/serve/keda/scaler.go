package keda

import (
	"context"
	"errors"
	"math"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

var _ pb.ExternalScalerServer = (*Scaler)(nil)

// Scaler answers KEDA from the stores. It is safe for concurrent use and keeps no state of a trigger: every request has
// all of it.
type Scaler struct {
	// Methods of later KEDA versions return Unimplemented, which KEDA can handle.
	pb.UnimplementedExternalScalerServer

	snapshots *snapshot.Store
	fleets    *fleet.Store
	now       func() time.Time
}

// New returns a scaler over the stores; the age of data is measured by now. Without fleets, which may be nil, triggers of a
// GPUFleet find none.
func New(snapshots *snapshot.Store, fleets *fleet.Store, now func() time.Time) *Scaler {
	return &Scaler{snapshots: snapshots, fleets: fleets, now: now}
}

// IsActive reports whether the workload needs a replica, by the demand over the lead window and the trigger's activation.
func (s *Scaler) IsActive(_ context.Context, ref *pb.ScaledObjectRef) (*pb.IsActiveResponse, error) {
	t, err := parseTrigger(ref)
	if err != nil {
		return nil, err
	}
	active, err := s.active(s.snapshots.Load(), &t)
	if err != nil {
		return nil, err
	}
	return &pb.IsActiveResponse{Result: active}, nil
}

// GetMetricSpec returns one metric, with the name of the Forecast or the fleet, and its target for one replica. It needs no demand, so
// KEDA can create its HorizontalPodAutoscaler while a Forecast is stale. If the trigger has its own target, it needs no Forecast
// either, so KEDA can apply the ScaledObject's fallback while the Forecast does not exist.
func (s *Scaler) GetMetricSpec(_ context.Context, ref *pb.ScaledObjectRef) (*pb.GetMetricSpecResponse, error) {
	t, err := parseTrigger(ref)
	if err != nil {
		return nil, err
	}
	target, err := t.replicaTarget(s.snapshots.Load())
	if err != nil {
		return nil, err
	}
	return metricSpec(t.metricName(), target), nil
}

// GetMetrics is the value of the Forecast, or the spare replicas of the fleet, as exactly one item: the HPA sums items.
func (s *Scaler) GetMetrics(_ context.Context, request *pb.GetMetricsRequest) (*pb.GetMetricsResponse, error) {
	t, err := parseTrigger(request.GetScaledObjectRef())
	if err != nil {
		return nil, err
	}
	own := t.metricName()
	if name := request.GetMetricName(); name != own {
		return nil, status.Errorf(codes.InvalidArgument, "unknown metric %.64q: the metric of this trigger is %q", name,
			own)
	}
	value, err := s.value(&t)
	if err != nil {
		return nil, err
	}
	return &pb.GetMetricsResponse{MetricValues: []*pb.MetricValue{{
		MetricName: own, MetricValue: ceilWhole(value), MetricValueFloat: ceilThousandths(value),
	}}}, nil
}

func (s *Scaler) value(t *trigger) (float64, error) {
	if t.fleet.Name != "" {
		return s.spare(t)
	}
	entry, err := findEntry(s.snapshots.Load(), t.forecast)
	if err != nil {
		return 0, err
	}
	return s.demand(entry, t.selection)
}

// spare returns how many replicas of the trigger's consumer may run.
func (s *Scaler) spare(t *trigger) (float64, error) {
	state := s.fleets.Get(t.fleet)
	if state == nil {
		return 0, status.Errorf(codes.NotFound, "Forewarm knows no GPUFleet %s in namespace %s: see kubectl get "+
			"gpufleets -n %[2]s, and set the chart value fleets.enabled", t.fleet.Name, t.fleet.Namespace)
	}
	spare, err := state.Spare(t.batch, s.now())
	switch {
	case errors.Is(err, fleet.ErrConsumer):
		return 0, status.Errorf(codes.InvalidArgument, "fleet %s: %v", t.fleet, err)
	case err != nil:
		return 0, status.Errorf(codes.Unavailable, "fleet %s: %v", t.fleet, err)
	}
	return float64(spare.Replicas), nil
}

// findEntry returns the Forecast's entry.
func findEntry(newest *snapshot.Snapshot, key snapshot.Key) (*snapshot.ForecastSnapshot, error) {
	if newest == nil {
		return nil, status.Error(codes.Unavailable,
			"Forewarm has no data yet: the first refresh is in progress, try again")
	}
	if entry := newest.Get(key); entry != nil {
		return entry, nil
	}
	return nil, status.Errorf(codes.NotFound,
		"there is no Forecast %s in namespace %s: see kubectl get forecasts -n %[2]s", key.Name, key.Namespace)
}

// statusError says why a Forecast has no value: InvalidArgument if the selection is wrong, and Unavailable for all other causes, which may
// pass.
func statusError(key snapshot.Key, err error) error {
	code := codes.Unavailable
	if errors.Is(err, decide.ErrSelector) {
		code = codes.InvalidArgument
	}
	return status.Errorf(code, "forecast %s: %v", key, err)
}

// demand returns the value of a selection. It is finite, not negative, and small enough for a metric.
func (s *Scaler) demand(entry *snapshot.ForecastSnapshot, selection decide.Overrides) (float64, error) {
	answer, err := entry.AnswerTrigger(selection, s.now())
	if err != nil {
		return 0, statusError(entry.Key, err)
	}
	if err := checkCarriable(answer.Value); err != nil {
		return 0, statusError(entry.Key, err)
	}
	return answer.Value, nil
}

// active reports whether the demand over the trigger's horizon, or else over the lead window, is above its activation. Without an
// activation, the workload is active while there is demand, while the expected demand exceeds decide.IdleShare of a replica, or about when
// the demand returned in one of the last days. A consumer of a fleet is active while a replica may run.
func (s *Scaler) active(newest *snapshot.Snapshot, t *trigger) (bool, error) {
	if t.fleet.Name != "" {
		spare, err := s.spare(t)
		return spare > math.Max(t.activation, 0), err
	}
	entry, err := findEntry(newest, t.forecast)
	if err != nil {
		return false, err
	}
	demand, err := s.demand(entry, t.selection)
	if err != nil {
		return false, err
	}
	if t.selection.Horizon != 0 {
		lead := t.selection
		lead.Horizon = 0
		ahead, err := s.demand(entry, lead)
		if err != nil {
			return false, err
		}
		demand = math.Max(demand, ahead)
	}
	if t.activation >= 0 {
		return demand > t.activation, nil
	}
	target, unknown := t.replicaTarget(newest)
	if unknown != nil {
		target = 0 // In this case, any demand activates the workload.
	}
	whole := t.selection.Variant == ""
	return whole && (entry.Observed > 0 || entry.IsReturnDue(s.now())) || demand > decide.IdleShare*target, nil
}

// metricSpec is one metric and its target.
func metricSpec(name string, target float64) *pb.GetMetricSpecResponse {
	return &pb.GetMetricSpecResponse{MetricSpecs: []*pb.MetricSpec{{
		MetricName: name, TargetSize: max(1, ceilWhole(target)), TargetSizeFloat: target,
	}}}
}
