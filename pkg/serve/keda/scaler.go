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

// Scaler answers KEDA from the board. It is safe for concurrent use, and holds nothing of a trigger between two requests:
// KEDA sends all of it each time.
type Scaler struct {
	// A method of a later KEDA is Unimplemented, which KEDA understands.
	pb.UnimplementedExternalScalerServer

	board *snapshot.Board
	now   func() time.Time
}

// New reads from the board; now is the clock against which the age of data is judged.
func New(board *snapshot.Board, now func() time.Time) *Scaler { return &Scaler{board: board, now: now} }

// IsActive says whether the demand over the lead window is above the trigger's activation.
func (s *Scaler) IsActive(_ context.Context, ref *pb.ScaledObjectRef) (*pb.IsActiveResponse, error) {
	t, err := read(ref)
	if err != nil {
		return nil, err
	}
	active, err := s.active(s.board.Load(), &t)
	if err != nil {
		return nil, err
	}
	return &pb.IsActiveResponse{Result: active}, nil
}

// GetMetricSpec is one metric, named as the Forecast, and what one replica carries of it. It needs no demand, so that it
// is known while a Forecast is stale: KEDA could not build its HorizontalPodAutoscaler otherwise.
func (s *Scaler) GetMetricSpec(_ context.Context, ref *pb.ScaledObjectRef) (*pb.GetMetricSpecResponse, error) {
	t, err := read(ref)
	if err != nil {
		return nil, err
	}
	target, err := t.carries(s.board.Load())
	if err != nil {
		return nil, err
	}
	return spec(t.forecast.Name, target), nil
}

// GetMetrics is the Forecast's value by exactly one item: the HPA sums items.
func (s *Scaler) GetMetrics(_ context.Context, request *pb.GetMetricsRequest) (*pb.GetMetricsResponse, error) {
	t, err := read(request.GetScaledObjectRef())
	if err != nil {
		return nil, err
	}
	if name := request.GetMetricName(); name != t.forecast.Name {
		return nil, status.Errorf(codes.InvalidArgument, "metric %.64q: this trigger has one only, %q", name,
			t.forecast.Name)
	}
	entry, err := find(s.board.Load(), t.forecast)
	if err != nil {
		return nil, err
	}
	demand, err := s.demand(entry, t.selection)
	if err != nil {
		return nil, err
	}
	return &pb.GetMetricsResponse{MetricValues: []*pb.MetricValue{{
		MetricName: t.forecast.Name, MetricValue: whole(demand), MetricValueFloat: thousandths(demand),
	}}}, nil
}

// find is the Forecast's entry.
func find(newest *snapshot.Snapshot, key snapshot.Key) (*snapshot.Entry, error) {
	if newest == nil {
		return nil, status.Error(codes.Unavailable, "forewarm has no data yet: its first refresh is under way")
	}
	if entry := newest.Get(key); entry != nil {
		return entry, nil
	}
	return nil, status.Errorf(codes.NotFound,
		"there is no forecast %s in namespace %s, see kubectl get forecasts -n %[2]s", key.Name, key.Namespace)
}

// refuse says why a Forecast has no value: a selection of what does not exist is the trigger's fault, all else is ours
// and may pass.
func refuse(key snapshot.Key, err error) error {
	code := codes.Unavailable
	if errors.Is(err, decide.ErrSelection) {
		code = codes.InvalidArgument
	}
	return status.Errorf(code, "forecast %s: %v", key, err)
}

// demand is the value that a selection serves: finite, not negative, and such as a metric can carry.
func (s *Scaler) demand(entry *snapshot.Entry, selection decide.Selection) (float64, error) {
	answer, err := entry.Answer(selection, s.now())
	if err != nil {
		return 0, refuse(entry.Key, err)
	}
	if err := carriable(answer.Value); err != nil {
		return 0, refuse(entry.Key, err)
	}
	return answer.Value, nil
}

// active says whether the demand that the trigger selects, or that over the lead window, is above its activation.
func (s *Scaler) active(newest *snapshot.Snapshot, t *trigger) (bool, error) {
	entry, err := find(newest, t.forecast)
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
	return demand > t.activation, nil
}

// spec is one metric and its target.
func spec(name string, target float64) *pb.GetMetricSpecResponse {
	return &pb.GetMetricSpecResponse{MetricSpecs: []*pb.MetricSpec{{
		MetricName: name, TargetSize: max(1, whole(target)), TargetSizeFloat: target,
	}}}
}
