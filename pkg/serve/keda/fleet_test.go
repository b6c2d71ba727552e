package keda_test

import (
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/fleet/fleettest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/keda"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

func fleetScaler() *keda.Scaler {
	return keda.New(snapshottest.Store(), fleettest.Store(), snapshottest.Now)
}

func ofFleet(name, batch string, pairs ...string) *pb.ScaledObjectRef {
	return ref(append([]string{"fleet", name, "batch", batch}, pairs...)...)
}

// KEDA divides the value by the target, which gives the Jobs that may run, and starts none while the trigger is not active.
func TestATriggerOfAFleet(t *testing.T) {
	for _, c := range []struct {
		batch         string
		pairs         []string
		target, value float64
		active        bool
	}{
		{batch: "embeddings", target: 1, value: 12, active: true},
		{batch: "embeddings", pairs: []string{"target", "2", "activation", "11"}, target: 2, value: 12, active: true},
		{batch: "embeddings", pairs: []string{"activation", "12"}, target: 1, value: 12},
		{batch: "evals", target: 1},
	} {
		s, r := fleetScaler(), ofFleet("h100", c.batch, c.pairs...)
		spec, err := s.GetMetricSpec(t.Context(), r)
		if err != nil || len(spec.GetMetricSpecs()) != 1 || spec.GetMetricSpecs()[0].GetMetricName() != "h100-spare" ||
			spec.GetMetricSpecs()[0].GetTargetSizeFloat() != c.target {
			t.Errorf("%v: %v, %v", r, spec, err)
		}
		got, err := s.GetMetrics(t.Context(), &pb.GetMetricsRequest{ScaledObjectRef: r, MetricName: "h100-spare"})
		if err != nil || len(got.GetMetricValues()) != 1 || got.GetMetricValues()[0].GetMetricValueFloat() != c.value ||
			got.GetMetricValues()[0].GetMetricValue() != int64(c.value) {
			t.Errorf("%v: %v, %v", r, got, err)
		}
		if active, err := s.IsActive(t.Context(), r); err != nil || active.GetResult() != c.active {
			t.Errorf("%v: %v, %v", r, active, err)
		}
	}
}

func TestErrorsOfAFleet(t *testing.T) {
	for _, c := range []struct {
		fleet, batch string
		code         codes.Code
		words        []string
	}{
		{"missing", "embeddings", codes.NotFound, []string{"GPUFleet missing in namespace inference", "fleets.enabled"}},
		{"secret", "embeddings", codes.NotFound, []string{"no GPUFleet secret in namespace inference"}},
		{"h100", "training", codes.InvalidArgument, []string{`"training"`, "embeddings and evals"}},
		{"stale", "embeddings", codes.Unavailable, []string{"fleet inference/stale", "3m15s old"}},
		{"broken", "embeddings", codes.Unavailable, []string{"there is no plan: Forecast <chat> does not exist"}},
	} {
		s, r := fleetScaler(), ofFleet(c.fleet, c.batch)
		_, err := s.GetMetrics(t.Context(), &pb.GetMetricsRequest{ScaledObjectRef: r, MetricName: c.fleet + "-spare"})
		checkError(t, err, c.code, c.words...)
		_, err = s.IsActive(t.Context(), r)
		checkError(t, err, c.code, c.words...)
	}
	_, err := fleetScaler().GetMetrics(t.Context(), &pb.GetMetricsRequest{
		ScaledObjectRef: ofFleet("h100", "evals"), MetricName: "h100",
	})
	checkError(t, err, codes.InvalidArgument, `the metric of this trigger is "h100-spare"`)
	metadata := map[string]string{"fleet": "h100", "batch": "evals"}
	if err := keda.CheckTrigger("inference", "embed", metadata); err != nil {
		t.Error(err)
	}
	metadata["target"] = "0.5"
	checkError(t, keda.CheckTrigger("inference", "embed", metadata), codes.InvalidArgument,
		`target="0.5" would start more replicas than may run`, "remove it")
}

// A consumer that must get nothing gets an error: KEDA starts nothing.
func TestRefusedConsumer(t *testing.T) {
	state := fleettest.H100()
	state.Refused = map[string]string{"training": "its grace period is too short"}
	fleets := &fleet.Store{}
	fleets.Set(map[snapshot.Key]*fleet.State{state.Key: state})
	scaler := keda.New(snapshottest.Store(), fleets, snapshottest.Now)
	_, err := scaler.IsActive(t.Context(), ofFleet("h100", "training"))
	checkError(t, err, codes.Unavailable, "training is refused: its grace period is too short")
}

func TestAFleetsActivityIsPushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t, snapshots: snapshottest.Store(), ended: make(chan error, 1)}
		fleets := fleettest.Store()
		w.start(keda.New(w.snapshots, fleets, snapshottest.Now), ofFleet("h100", "embeddings"))
		w.want("the beginning", true)
		full := fleettest.H100()
		full.Plan.Batch[0].Replicas = 0
		fleets.Set(map[snapshot.Key]*fleet.State{full.Key: full})
		w.publish()
		w.want("the next step", true, false)
		fleets.Set(nil)
		w.publish()
		w.want("a fleet that is not known", true, false)
		w.end()
	})
}
