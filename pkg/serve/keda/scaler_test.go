package keda_test

import (
	"context"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/keda"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

type clock = func() time.Time

// dial serves the store, and is a client of it.
//
//nolint:ireturn // As generated.
func dial(t *testing.T, snapshots *snapshot.Store, now clock) pb.ExternalScalerClient {
	t.Helper()
	listener, server := bufconn.Listen(1<<16), grpc.NewServer()
	pb.RegisterExternalScalerServer(server, keda.New(snapshots, nil, now))
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	dialer := func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
	conn, err := grpc.NewClient("passthrough:memory", grpc.WithContextDialer(dialer),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return pb.NewExternalScalerClient(conn)
}

func everyState(t *testing.T) pb.ExternalScalerClient { //nolint:ireturn // As generated.
	t.Helper()
	return dial(t, snapshottest.Store(snapshottest.EveryState()...), snapshottest.Now)
}

// ref is a ScaledObject of the namespace of all fixtures, with metadata in pairs. KEDA's own come along.
func ref(pairs ...string) *pb.ScaledObjectRef {
	metadata := map[string]string{"scalerAddress": "forewarm:9090", "enableTLS": "true", "unsafeSsl": "false"}
	for i := 0; i < len(pairs); i += 2 {
		metadata[pairs[i]] = pairs[i+1]
	}
	return &pb.ScaledObjectRef{Name: "llama", Namespace: "inference", ScalerMetadata: metadata}
}

// value asks for the metric that the reference names.
func value(t *testing.T, client pb.ExternalScalerClient, r *pb.ScaledObjectRef) (*pb.MetricValue, error) {
	t.Helper()
	response, err := client.GetMetrics(t.Context(), &pb.GetMetricsRequest{
		ScaledObjectRef: r, MetricName: r.GetScalerMetadata()["forecast"],
	})
	if err != nil {
		return nil, err
	}
	if n := len(response.GetMetricValues()); n != 1 {
		t.Fatalf("%d values, want exactly 1: the HPA sums them", n)
	}
	return response.GetMetricValues()[0], nil
}

func mustValue(t *testing.T, client pb.ExternalScalerClient, pairs ...string) float64 {
	t.Helper()
	got, err := value(t, client, ref(pairs...))
	if err != nil {
		t.Fatalf("%v: %v", pairs, err)
	}
	return got.GetMetricValueFloat()
}

func checkError(t *testing.T, err error, code codes.Code, words ...string) {
	t.Helper()
	if got := status.Code(err); got != code {
		t.Errorf("code %s (%v), want %s", got, err, code)
	}
	for _, word := range words {
		if !strings.Contains(status.Convert(err).Message(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
}

func TestTheMetricIsTheDecision(t *testing.T) {
	entry := snapshottest.Ready(snapshottest.Key("ready"))
	got, err := value(t, everyState(t), ref("forecast", "ready"))
	if err != nil {
		t.Fatal(err)
	}
	want := entry.Decision.Value
	if v := got.GetMetricValueFloat(); v < want || v > want+0.001 {
		t.Errorf("value %g, want %g rounded up to thousandths", v, want)
	}
	if v := got.GetMetricValue(); float64(v) < want || float64(v) > want+1 {
		t.Errorf("the whole number is %d, want %g rounded up", v, want)
	}
	if got.GetMetricName() != "ready" {
		t.Errorf("metric %q", got.GetMetricName())
	}
}

func TestTheMetadataSelectAsAMetricsSelectorDoes(t *testing.T) {
	client := everyState(t)
	own := mustValue(t, client, "forecast", "ready")
	if q := mustValue(t, client, "forecast", "ready", "quantile", "0.99"); q <= own {
		t.Errorf("quantile 0.99 is %g, want more than the own %g", q, own)
	}
	if h := mustValue(t, client, "forecast", "ready", "horizon", "1h"); h <= own {
		t.Errorf("horizon 1h is %g, want more than the own %g", h, own)
	}
	if v := mustValue(t, client, "forecast", "ready", "serve", "shadow"); v >= own {
		t.Errorf("shadow is %g, want the observed, less than %g", v, own)
	}
}

func TestValuesAreNeverWrong(t *testing.T) {
	for _, test := range []struct {
		name        string
		value, want float64 // NaN: refused.
	}{
		{"zero", 0, 0},
		{"a thousandth is rounded up", 0.0001, 0.001},
		{"a third is rounded up", 1.0 / 3, 0.334},
		{"a whole number stays", 4000, 4000},
		{"the largest that fits", 9.2e15, 9.2e15},
		{"beyond thousandths", 9.3e15, math.NaN()},
		{"infinite", math.Inf(1), math.NaN()},
		{"not a number", math.NaN(), math.NaN()},
		{"negative", -0.001, math.NaN()},
	} {
		t.Run(test.name, func(t *testing.T) {
			entry := snapshottest.Ready(snapshottest.Key("ready"))
			entry.Decision.Value = test.value
			client := dial(t, snapshottest.Store(entry), snapshottest.Now)
			got, err := value(t, client, ref("forecast", "ready"))
			if math.IsNaN(test.want) {
				checkError(t, err, codes.Unavailable, "larger unit")
				_, err = client.IsActive(t.Context(), ref("forecast", "ready"))
				checkError(t, err, codes.Unavailable, "larger unit")
				return
			}
			if err != nil || got.GetMetricValueFloat() != test.want {
				t.Errorf("%g (%v), want %g", got.GetMetricValueFloat(), err, test.want)
			}
		})
	}
}

func TestErrorsOfValuesAndActivity(t *testing.T) {
	client := everyState(t)
	for _, test := range casetest.Read[struct {
		Name         string
		Pairs, Words []string
		Code         codes.Code
	}](t, "errors.yaml") {
		t.Run(test.Name, func(t *testing.T) {
			_, err := value(t, client, ref(test.Pairs...))
			checkError(t, err, test.Code, test.Words...)
			_, err = client.IsActive(t.Context(), ref(test.Pairs...))
			checkError(t, err, test.Code, test.Words...)
		})
	}
	_, err := client.GetMetrics(t.Context(),
		&pb.GetMetricsRequest{ScaledObjectRef: ref("forecast", "ready"), MetricName: "x"})
	checkError(t, err, codes.InvalidArgument, `metric "x"`, `"ready"`)
	_, err = client.GetMetrics(t.Context(), &pb.GetMetricsRequest{})
	checkError(t, err, codes.InvalidArgument, "has no namespace", "forecast is missing")
}

// Data grows old between two refreshes: the clock decides, not the state of the snapshot.
func TestStaleByTheClock(t *testing.T) {
	client := dial(t, snapshottest.Store(snapshottest.Ready(snapshottest.Key("ready"))),
		func() time.Time { return snapshottest.Now().Add(11 * time.Minute) })
	_, err := value(t, client, ref("forecast", "ready"))
	checkError(t, err, codes.Unavailable, "11m30s old")
	_, err = client.IsActive(t.Context(), ref("forecast", "ready"))
	checkError(t, err, codes.Unavailable, "11m30s old")
}

func TestBeforeTheFirstSnapshot(t *testing.T) {
	client := dial(t, &snapshot.Store{}, snapshottest.Now)
	_, err := value(t, client, ref("forecast", "ready"))
	checkError(t, err, codes.Unavailable, "no data yet")
	_, err = client.GetMetricSpec(t.Context(), ref("forecast", "ready"))
	checkError(t, err, codes.Unavailable, "no data yet")
	got, err := client.GetMetricSpec(t.Context(), ref("forecast", "ready", "target", "64"))
	if err != nil || got.GetMetricSpecs()[0].GetTargetSizeFloat() != 64 {
		t.Errorf("a stated target needs no snapshot: %v (%v)", got, err)
	}
}

// Two tenants have a Forecast of the same name. Nothing in the metadata reaches the other's.
func TestNoNamespaceIsCrossed(t *testing.T) {
	mine, theirs := snapshottest.Ready(snapshottest.Key("ready")), snapshottest.Ready(snapshot.Key{
		Namespace: "other", Name: "ready",
	})
	only := snapshottest.Ready(snapshot.Key{Namespace: "other", Name: "secret"})
	mine.Decision.Value, theirs.Decision.Value, only.Decision.Value = 1, 2, 3
	client := dial(t, snapshottest.Store(mine, theirs, only), snapshottest.Now)
	if got := mustValue(t, client, "forecast", "ready"); got != 1 {
		t.Errorf("the namespace inference is served %g, want its own 1", got)
	}
	_, err := value(t, client, ref("forecast", "secret"))
	checkError(t, err, codes.NotFound, "namespace inference")
	for _, name := range []string{"other/secret", "../other/secret", "other%2Fsecret", "/secret", "secret ", "other\x00secret"} {
		_, err = value(t, client, ref("forecast", name))
		checkError(t, err, codes.InvalidArgument, "is not a valid name")
	}
	_, err = value(t, client, ref("forecast", "secret", "namespace", "other"))
	checkError(t, err, codes.InvalidArgument, `unknown key "namespace"`)
	nowhere := ref("forecast", "ready")
	nowhere.Namespace = ""
	_, err = value(t, client, nowhere)
	checkError(t, err, codes.InvalidArgument, "has no namespace")
}

func TestActivity(t *testing.T) {
	client := everyState(t)
	demand := mustValue(t, client, "forecast", "ready")
	hour := mustValue(t, client, "forecast", "ready", "horizon", "1h")
	between := func(a, b float64) string { return strings.TrimSuffix(formatted((a+b)/2), ".000") }
	for _, test := range []struct {
		name  string
		pairs []string
		want  bool
	}{
		{"any demand that is observed by default", []string{"target", "4k"}, true},
		{"an activation of 0", []string{"activation", "0"}, true},
		{"below the demand", []string{"activation", formatted(demand - 0.5)}, true},
		{"above the demand", []string{"activation", formatted(demand + 0.5)}, false},
		{"an activation in thousandths", []string{"activation", "100m"}, true},
		{"a long horizon sees more", []string{"activation", between(demand, hour), "horizon", "1h"}, true},
		{"the lead window alone would not", []string{"activation", between(demand, hour)}, false},
		{"a short horizon sees no less than the lead window", []string{"activation", formatted(demand - 0.5), "horizon", "30s"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := client.IsActive(t.Context(), ref(append([]string{"forecast", "ready"}, test.pairs...)...))
			if err != nil || got.GetResult() != test.want {
				t.Errorf("active %v (%v), want %v", got.GetResult(), err, test.want)
			}
		})
	}
}

// The demand at a workload without replicas is 0 while the forecast sees the morning come: it wakes before.
func TestAwakeBeforeTheFirstRequest(t *testing.T) {
	entry := snapshottest.Ready(snapshottest.Key("ready"))
	entry.Observed = 0
	client := dial(t, snapshottest.Store(entry), snapshottest.Now)
	if got, err := client.IsActive(t.Context(), ref("forecast", "ready")); err != nil || !got.GetResult() {
		t.Errorf("active %v (%v), want true: %g are coming", got.GetResult(), err, entry.Decision.Value)
	}
	entry = snapshottest.Ready(snapshottest.Key("ready"))
	entry.Observed, entry.Decision = 0, decide.Decision{}
	client = dial(t, snapshottest.Store(entry), snapshottest.Now)
	if got, err := client.IsActive(t.Context(), ref("forecast", "ready")); err != nil || got.GetResult() {
		t.Errorf("active %v (%v), want false: nothing is coming", got.GetResult(), err)
	}
}

// What is left of a forecast's headroom after the last request is no reason to stay awake, unless the trigger says so.
func TestALittleIsExpectedWhileNothingIsObserved(t *testing.T) {
	for _, c := range []struct {
		name               string
		observed, expected float64
		pairs              []string
		want               bool
	}{
		{"a tenth of a replica", 0, 6.4, []string{"target", "64"}, false},
		{"more than a tenth", 0, 6.5, []string{"target", "64"}, true},
		{"one request is observed", 1, 1, []string{"target", "64"}, true},
		{"the trigger has an activation of 0", 0, 0.1, []string{"target", "64", "activation", "0"}, true},
		{"the trigger has another activation", 0, 6.5, []string{"target", "64", "activation", "7"}, false},
		{"no one says what a replica sustains", 0, 0.1, nil, true},
		{"nothing", 0, 0, nil, false},
	} {
		entry := snapshottest.Ready(snapshottest.Key("ready"))
		entry.Settings.Target, entry.Observed, entry.Decision = 0, c.observed, decide.Decision{Value: c.expected}
		client := dial(t, snapshottest.Store(entry), snapshottest.Now)
		got, err := client.IsActive(t.Context(), ref(append([]string{"forecast", "ready"}, c.pairs...)...))
		if err != nil || got.GetResult() != c.want {
			t.Errorf("%s: active %v (%v), want %v", c.name, got.GetResult(), err, c.want)
		}
	}
}

func TestTheSpec(t *testing.T) {
	small, tiny := snapshottest.Ready(snapshottest.Key("small")), snapshottest.Ready(snapshottest.Key("tiny"))
	small.Settings.Target, tiny.Settings.Target = 0.25, 0.0001
	client := dial(t, snapshottest.Store(append(snapshottest.EveryState(), small, tiny)...), snapshottest.Now)
	for _, test := range []struct {
		name  string
		ref   *pb.ScaledObjectRef
		whole int64
		float float64
	}{
		{"stated", ref("forecast", "ready", "target", "64"), 64, 64},
		{"stated before that of the Forecast", ref("forecast", "objective", "target", "64"), 64, 64},
		{"the Forecast's own", ref("forecast", "objective"), 40, 40},
		{"a fraction rounds up to a whole number", ref("forecast", "ready", "target", "1.5"), 2, 1.5},
		{"a whole number is at least 1", ref("forecast", "ready", "target", "250m"), 1, 0.25},
		{"the Forecast's own fraction", ref("forecast", "small"), 1, 0.25},
		{"known while the Forecast is stale", ref("forecast", "stale", "target", "4k"), 4000, 4000},
		{"known while the Forecast is pending", ref("forecast", "pending", "target", "1e3"), 1000, 1000},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := client.GetMetricSpec(t.Context(), test.ref)
			if err != nil || len(got.GetMetricSpecs()) != 1 {
				t.Fatalf("%v (%v), want one metric", got, err)
			}
			s := got.GetMetricSpecs()[0]
			if s.GetTargetSize() != test.whole || s.GetTargetSizeFloat() != test.float {
				t.Errorf("targets %d and %g, want %d and %g", s.GetTargetSize(), s.GetTargetSizeFloat(), test.whole,
					test.float)
			}
			if want := test.ref.GetScalerMetadata()["forecast"]; s.GetMetricName() != want {
				t.Errorf("metric %q, want %q", s.GetMetricName(), want)
			}
		})
	}
	_, err := client.GetMetricSpec(t.Context(), ref("forecast", "ready"))
	checkError(t, err, codes.InvalidArgument, "set target in the trigger's metadata, or scaling.target in the Forecast")
	_, err = client.GetMetricSpec(t.Context(), ref("forecast", "tiny"))
	checkError(t, err, codes.InvalidArgument, "scaling.target 0.0001", "another unit")
	_, err = client.GetMetricSpec(t.Context(), ref("forecast", "invalid"))
	checkError(t, err, codes.Unavailable, "spec.step")
}

// KEDA counts failures of GetMetrics only, and calls it only for the specs of GetMetricSpec. So that a ScaledObject's fallback can
// start while its Forecast does not exist, the spec has the trigger's own target. The value and the activity stay errors.
func TestAMissingForecastHasASpecIfTheTriggerHasATarget(t *testing.T) {
	theirs := snapshottest.Ready(snapshot.Key{Namespace: "other", Name: "gone"})
	theirs.Settings.Target = 7
	for _, state := range []struct {
		name    string
		entries []*snapshot.ForecastSnapshot
	}{
		{"the Forecast was deleted, or is not created yet", snapshottest.EveryState()},
		{"there is no Forecast at all", nil},
		{"another namespace has a Forecast of this name", []*snapshot.ForecastSnapshot{theirs}},
	} {
		client := dial(t, snapshottest.Store(state.entries...), snapshottest.Now)
		for _, c := range []struct {
			name  string
			pairs []string
			want  float64    // The target of the spec, if code is OK.
			code  codes.Code // Of GetMetricSpec.
			value codes.Code // Of GetMetrics and IsActive.
			words string     // Of every error.
		}{
			{"a target", []string{"target", "40"}, 40, codes.OK, codes.NotFound, "there is no Forecast gone in namespace inference"},
			{"a fraction", []string{"target", "250m"}, 0.25, codes.OK, codes.NotFound, "there is no Forecast gone"},
			{"a target and a variant", []string{"target", "40", "variant", "spot"}, 40, codes.OK, codes.NotFound, "there is no Forecast gone"},
			{
				"a target, a quantile and a horizon",
				[]string{"target", "40", "quantile", "0.99", "horizon", "5m"},
				40, codes.OK,
				codes.NotFound, "there is no Forecast gone",
			},
			{
				"a target and an activation",
				[]string{"target", "40", "activation", "4"},
				40, codes.OK, codes.NotFound,
				"there is no Forecast gone",
			},
			{"no target", nil, 0, codes.NotFound, codes.NotFound, "there is no Forecast gone in namespace inference"},
			{"a variant without a target", []string{"variant", "spot"}, 0, codes.NotFound, codes.NotFound, "there is no Forecast gone"},
			{"a target of 0", []string{"target", "0"}, 0, codes.InvalidArgument, codes.InvalidArgument, "less than a thousandth"},
			{
				"a target that is no quantity",
				[]string{"target", "many"},
				0, codes.InvalidArgument, codes.InvalidArgument,
				"is not a quantity",
			},
			{"a negative target", []string{"target", "-40"}, 0, codes.InvalidArgument, codes.InvalidArgument, "is not between 0"},
			{
				"a target and an unknown key",
				[]string{"target", "40", "zone", "a"},
				0, codes.InvalidArgument, codes.InvalidArgument,
				"unknown key",
			},
			{
				"a target and an invalid quantile",
				[]string{"target", "40", "quantile", "2"},
				0, codes.InvalidArgument,
				codes.InvalidArgument, "quantile",
			},
		} {
			t.Run(state.name+": "+c.name, func(t *testing.T) {
				r := ref(append([]string{"forecast", "gone"}, c.pairs...)...)
				spec, err := client.GetMetricSpec(t.Context(), r)
				if c.code != codes.OK {
					checkError(t, err, c.code, c.words)
				} else if err != nil || len(spec.GetMetricSpecs()) != 1 || spec.GetMetricSpecs()[0].GetMetricName() != "gone" ||
					spec.GetMetricSpecs()[0].GetTargetSizeFloat() != c.want {
					t.Errorf("spec %v (%v), want one of the metric gone with a target of %g", spec, err, c.want)
				}
				_, err = value(t, client, r)
				checkError(t, err, c.value, c.words)
				_, err = client.IsActive(t.Context(), r)
				checkError(t, err, c.value, c.words)
			})
		}
	}
}
