package keda_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/keda"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// sink is a stream whose client takes everything at once, so that a test can wait until the server has nothing to do.
type sink[Message any] struct {
	grpc.ServerStream

	ctx    context.Context //nolint:containedctx // A stream carries its context.
	sent   []*Message
	broken error
}

func (s *sink[Message]) Context() context.Context { return s.ctx }

func (s *sink[Message]) Send(m *Message) error {
	if s.broken != nil {
		return s.broken
	}
	s.sent = append(s.sent, m)
	return nil
}

// awake is the Forecast "ready" with a demand of so much.
func awake(demand float64) *snapshot.ForecastSnapshot {
	entry := snapshottest.Ready(snapshottest.Key("ready"))
	entry.Observed, entry.Decision = demand, decide.Decision{Value: demand}
	return entry
}

// watched is StreamIsActive under way, in a bubble of package synctest.
type watched struct {
	t         *testing.T
	snapshots *snapshot.Store
	stream    *sink[pb.IsActiveResponse]
	cancel    context.CancelFunc
	ended     chan error
}

func watch(t *testing.T, r *pb.ScaledObjectRef, entries ...*snapshot.ForecastSnapshot) *watched {
	t.Helper()
	w := &watched{t: t, snapshots: &snapshot.Store{}, ended: make(chan error, 1)}
	if entries != nil {
		w.snapshots.Publish(snapshottest.Snapshot(entries...))
	}
	w.start(keda.New(w.snapshots, nil, snapshottest.Now), r)
	return w
}

// start opens the stream.
func (w *watched) start(scaler *keda.Scaler, r *pb.ScaledObjectRef) {
	ctx, cancel := context.WithCancel(w.t.Context())
	w.stream, w.cancel = &sink[pb.IsActiveResponse]{ctx: ctx}, cancel
	go func() { w.ended <- scaler.StreamIsActive(r, w.stream) }()
}

// publish hangs a new snapshot, and waits until the stream has seen it.
func (w *watched) publish(entries ...*snapshot.ForecastSnapshot) {
	synctest.Wait()
	w.snapshots.Publish(snapshottest.Snapshot(entries...))
	synctest.Wait()
}

// want are all states that were sent so far.
func (w *watched) want(after string, states ...bool) {
	w.t.Helper()
	synctest.Wait()
	var got []bool
	for _, m := range w.stream.sent {
		got = append(got, m.GetResult())
	}
	if diff := cmp.Diff(states, got); diff != "" {
		w.t.Errorf("after %s: %s", after, diff)
	}
}

// end cancels the client, and wants the stream to end by that.
func (w *watched) end() {
	w.t.Helper()
	w.cancel()
	synctest.Wait()
	select {
	case err := <-w.ended:
		if status.Code(err) != codes.Canceled {
			w.t.Errorf("the stream ended with %v, want Canceled", err)
		}
	default:
		w.t.Error("the client is gone and the stream goes on")
	}
}

func TestEachChangeIsPushedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, ref("forecast", "ready", "activation", "10"), awake(0))
		w.want("the beginning", false)
		w.publish(awake(1))
		w.want("a change below the activation", false)
		w.publish(awake(11))
		w.want("a rise", false, true)
		w.publish(awake(12))
		w.want("another rise", false, true)
		w.publish(awake(10))
		w.want("a fall", false, true, false)
		w.end()
	})
}

// Without data a workload is neither put to sleep nor woken.
func TestTheLastStateStandsWhileTheForecastServesNothing(t *testing.T) {
	key := snapshottest.Key("ready")
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, ref("forecast", "ready"), awake(5))
		w.want("the beginning", true)
		w.publish(snapshottest.Stale(key))
		w.want("it is stale", true)
		w.publish(snapshottest.Invalid(key))
		w.want("it is invalid", true)
		w.publish()
		w.want("it is gone", true)
		w.publish(awake(5))
		w.want("it is back", true)
		w.publish(awake(0))
		w.want("nothing is coming", true, false)
		w.end()
	})
}

func TestTheFirstStateComesAsSoonAsItIsKnown(t *testing.T) {
	key := snapshottest.Key("ready")
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, ref("forecast", "ready"))
		w.want("nothing was published")
		w.publish(snapshottest.Pending(key))
		w.want("it is pending")
		w.publish(awake(0))
		w.want("it is known", false)
		w.end()
	})
}

// A trigger that is wrong from the beginning ends the stream, so that KEDA's log says why.
func TestAWrongTriggerEndsTheStream(t *testing.T) {
	for _, test := range []struct {
		name string
		ref  *pb.ScaledObjectRef
		code codes.Code
	}{
		{"metadata", ref("forecast", "ready", "zone", "a"), codes.InvalidArgument},
		{"an unknown Forecast", ref("forecast", "missing"), codes.NotFound},
		{"an unknown Forecast and a target", ref("forecast", "missing", "target", "64"), codes.NotFound},
		{"a horizon out of reach", ref("forecast", "ready", "horizon", "9h"), codes.InvalidArgument},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := watch(t, test.ref, awake(5))
			synctest.Wait()
			select {
			case err := <-w.ended:
				checkError(t, err, test.code)
			default:
				t.Errorf("%s: the stream goes on", test.name)
				w.end()
			}
			w.cancel()
		})
	}
}

func TestABrokenStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken pipe")
		w := watch(t, ref("forecast", "ready"))
		synctest.Wait()
		w.stream.broken = broken
		w.publish(awake(5))
		if err := <-w.ended; !errors.Is(err, broken) {
			t.Errorf("the stream ended with %v, want %v", err, broken)
		}
		w.cancel()
	})
}

func TestTheSpecIsPushedWhenItChanges(t *testing.T) {
	of := func(target float64) *snapshot.Snapshot {
		entry := awake(5)
		entry.Settings.Target = target
		return snapshottest.Snapshot(entry)
	}
	synctest.Test(t, func(t *testing.T) {
		snapshots := &snapshot.Store{}
		snapshots.Publish(of(40))
		ctx, cancel := context.WithCancel(t.Context())
		stream := &sink[pb.GetMetricSpecResponse]{ctx: ctx}
		ended := make(chan error, 1)
		go func() {
			ended <- keda.New(snapshots, nil, snapshottest.Now).StreamMetricSpec(ref("forecast", "ready"), stream)
		}()
		for _, target := range []float64{40, 64, 0, 64.5} {
			synctest.Wait()
			snapshots.Publish(of(target))
		}
		synctest.Wait()
		var got []float64
		for _, m := range stream.sent {
			got = append(got, m.GetMetricSpecs()[0].GetTargetSizeFloat())
		}
		if diff := cmp.Diff([]float64{40, 64, 64.5}, got); diff != "" {
			t.Error(diff)
		}
		cancel()
		if err := <-ended; status.Code(err) != codes.Canceled {
			t.Errorf("the stream ended with %v", err)
		}
	})
}

// The stream of specs says the same as GetMetricSpec while the Forecast does not exist.
func TestTheSpecOfAMissingForecastIsPushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snapshots := &snapshot.Store{}
		snapshots.Publish(snapshottest.Snapshot())
		scaler := keda.New(snapshots, nil, snapshottest.Now)
		err := scaler.StreamMetricSpec(ref("forecast", "ready"), &sink[pb.GetMetricSpecResponse]{ctx: t.Context()})
		checkError(t, err, codes.NotFound, "there is no Forecast ready")
		ctx, cancel := context.WithCancel(t.Context())
		stream := &sink[pb.GetMetricSpecResponse]{ctx: ctx}
		ended := make(chan error, 1)
		go func() { ended <- scaler.StreamMetricSpec(ref("forecast", "ready", "target", "40"), stream) }()
		for _, entries := range [][]*snapshot.ForecastSnapshot{{awake(5)}, nil} { // It is created, and deleted again.
			synctest.Wait()
			snapshots.Publish(snapshottest.Snapshot(entries...))
		}
		synctest.Wait()
		if n := len(stream.sent); n != 1 || stream.sent[0].GetMetricSpecs()[0].GetTargetSizeFloat() != 40 {
			t.Errorf("sent %v, want a target of 40 once", stream.sent)
		}
		cancel()
		if err := <-ended; status.Code(err) != codes.Canceled {
			t.Errorf("the stream ended with %v", err)
		}
	})
}
