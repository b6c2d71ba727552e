package keda

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// StreamIsActive sends what IsActive says, at once and whenever it changes.
func (s *Scaler) StreamIsActive(
	ref *pb.ScaledObjectRef, stream grpc.ServerStreamingServer[pb.IsActiveResponse],
) error {
	t, err := read(ref)
	if err != nil {
		return err
	}
	return follow(stream.Context(), s.board,
		func(newest *snapshot.Snapshot) (bool, error) { return s.active(newest, &t) },
		func(active bool) error { return stream.Send(&pb.IsActiveResponse{Result: active}) })
}

// StreamMetricSpec sends what GetMetricSpec says, at once and whenever it changes: the Forecast's scaling.target may.
func (s *Scaler) StreamMetricSpec(
	ref *pb.ScaledObjectRef, stream grpc.ServerStreamingServer[pb.GetMetricSpecResponse],
) error {
	t, err := read(ref)
	if err != nil {
		return err
	}
	return follow(stream.Context(), s.board, t.carries,
		func(target float64) error { return stream.Send(spec(t.forecast.Name, target)) })
}

// follow sends what look sees in the newest snapshot, at once and whenever it changes, until the context ends.
//
// What cannot be seen is not sent: the last state stands, as KEDA keeps it, and the reason is in the answers to the
// requests that KEDA makes meanwhile. The stream stays open, because KEDA opens a broken one again after up to a minute,
// and a workload that is to be woken has no minute. Only a trigger that is wrong from the beginning ends it, so that its
// author sees why.
func follow[State comparable](
	ctx context.Context, board *snapshot.Board, look func(*snapshot.Snapshot) (State, error), send func(State) error,
) error {
	var (
		last State
		sent bool
	)
	for {
		newest, replaced := board.Watch()
		state, err := look(newest)
		switch {
		case err != nil && !sent && isFault(err):
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

// isFault says whether an error blames the trigger, and not the data.
func isFault(err error) bool {
	code := status.Code(err)
	return code == codes.InvalidArgument || code == codes.NotFound
}
