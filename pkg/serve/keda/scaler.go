package keda

import (
	"context"
	"errors"
	"math"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

var _ pb.ExternalScalerServer = (*Scaler)(nil)

// Scaler answers KEDA from the store. It is safe for concurrent use and keeps no state of a trigger: every request has
// all of it.
type Scaler struct {
	// Methods of later KEDA versions return Unimplemented, which KEDA can handle.
	pb.UnimplementedExternalScalerServer

	snapshots *snapshot.Store
	now       func() time.Time
}

// New returns a scaler over the store; the age of data is measured by now.
func New(snapshots *snapshot.Store, now func() time.Time) *Scaler {
	return &Scaler{snapshots: snapshots, now: now}
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

// GetMetricSpec returns one metric, with the name of the Forecast, and its target for one replica. It needs no demand, so
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
	return metricSpec(t.forecast.Name, target), nil
}

// GetMetrics is the Forecast's value as exactly one item: the HPA sums items.
func (s *Scaler) GetMetrics(_ context.Context, request *pb.GetMetricsRequest) (*pb.GetMetricsResponse, error) {
	t, err := parseTrigger(request.GetScaledObjectRef())
	if err != nil {
		return nil, err
	}
	if name := request.GetMetricName(); name != t.forecast.Name {
		return nil, status.Errorf(codes.InvalidArgument, "unknown metric %.64q: the metric of this trigger is %q", name,
			t.forecast.Name)
	}
	entry, err := findEntry(s.snapshots.Load(), t.forecast)
	if err != nil {
		return nil, err
	}
	demand, err := s.demand(entry, t.selection)
	if err != nil {
		return nil, err
	}
	return &pb.GetMetricsResponse{MetricValues: []*pb.MetricValue{{
		MetricName: t.forecast.Name, MetricValue: ceilWhole(demand), MetricValueFloat: ceilThousandths(demand),
	}}}, nil
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
// the demand returned in one of the last days.
func (s *Scaler) active(newest *snapshot.Snapshot, t *trigger) (bool, error) {
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
