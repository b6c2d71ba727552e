package keda

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// StreamIsActive sends the result of IsActive, at once and at every change. A change of a fleet is sent with the next snapshot, which is
// at most a step later.
func (s *Scaler) StreamIsActive(
	ref *pb.ScaledObjectRef, stream grpc.ServerStreamingServer[pb.IsActiveResponse],
) error {
	t, err := parseTrigger(ref)
	if err != nil {
		return err
	}
	return sendChanges(stream.Context(), s.snapshots,
		func(newest *snapshot.Snapshot) (bool, error) { return s.active(newest, &t) },
		func(active bool) error { return stream.Send(&pb.IsActiveResponse{Result: active}) })
}

// StreamMetricSpec sends the result of GetMetricSpec, at once and at every change, as of the Forecast's scaling.target.
func (s *Scaler) StreamMetricSpec(
	ref *pb.ScaledObjectRef, stream grpc.ServerStreamingServer[pb.GetMetricSpecResponse],
) error {
	t, err := parseTrigger(ref)
	if err != nil {
		return err
	}
	return sendChanges(stream.Context(), s.snapshots, t.replicaTarget,
		func(target float64) error { return stream.Send(metricSpec(t.metricName(), target)) })
}

// sendChanges sends the state of the newest snapshot immediately and after every change, until the context ends.
//
// An unknown state is not sent. KEDA then keeps the last state, and the answers to its other requests contain the reason. The stream stays
// open, because KEDA takes up to a minute to reopen a broken one, which is too late to activate a workload. Only a trigger that is wrong
// from the start ends the stream, so that its author sees why.
func sendChanges[State comparable](
	ctx context.Context,
	snapshots *snapshot.Store,
	stateOf func(*snapshot.Snapshot) (State, error),
	send func(State) error,
) error {
	var (
		last State
		sent bool
	)
	for {
		newest, replaced := snapshots.Watch()
		state, err := stateOf(newest)
		switch {
		case err != nil && !sent && isTriggerError(err):
			return err
		case err != nil, sent && state == last:
		default:
			if err := send(state); err != nil {
				return err
			}
			last, sent = state, true
		}
		select {
		case <-replaced:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

// isTriggerError reports whether an error is about the trigger and not about the data.
func isTriggerError(err error) bool {
	code := status.Code(err)
	return code == codes.InvalidArgument || code == codes.NotFound
}
