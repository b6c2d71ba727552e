package keda_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/keda"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

func formatted(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// wrongTrigger has metadata, as names and values, and what is said about them.
type wrongTrigger struct {
	Name         string
	Pairs, Words []string
}

func TestErrorsInTheMetadata(t *testing.T) {
	scaler := keda.New(snapshottest.Store(snapshottest.EveryState()...), nil, snapshottest.Now)
	many := wrongTrigger{
		Name: "a thousand keys", Pairs: []string{"forecast", "ready"},
		Words: []string{`"key-0000", "key-0001", "key-0002", "key-0003" and 996 more`},
	}
	for i := range 1000 {
		many.Pairs = append(many.Pairs, fmt.Sprintf("key-%04d", i), "x")
	}
	for _, test := range append(casetest.Read[wrongTrigger](t, "metadata.yaml"), many) {
		t.Run(test.Name, func(t *testing.T) {
			begun := time.Now()
			_, err := scaler.GetMetricSpec(t.Context(), ref(test.Pairs...))
			checkError(t, err, codes.InvalidArgument, test.Words...)
			if strings.Contains(err.Error(), "selector") {
				t.Errorf("a trigger has no selector: %v", err)
			}
			if took := time.Since(begun); took > time.Second {
				t.Errorf("it took %s", took)
			}
			if n := len(err.Error()); n > 1024 {
				t.Errorf("the error has %d bytes", n)
			}
		})
	}
}

// Whatever the metadata say, the answer is a sound number or an error that blames the right side; never the other
// namespace's.
func FuzzMetadata(f *testing.F) {
	for _, seed := range [][4]string{
		{"ready", "target", "64", "0.5"},
		{"other/ready", "horizon", "5m", ""},
		{"ready", "quantile", "0.99", "4k"},
		{"ready", "late", "1e-300", "1e-99"},
		{"objective", "badHours", "0.01", "1"},
		{"stale", "target", "1Ei", "-0"},
		{"ready", "scalerAddress", "x", "1e3"},
		{"ready", "zone", "\xff", "9e15"},
		{"objective", "model", "ARIMA", "00.000"},
		{"ready", "serve", "shadow", "1e-30000000"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	entries := snapshottest.EveryState()
	other := snapshottest.Ready(snapshottest.Key("secret"))
	other.Key.Namespace = "other"
	scaler := keda.New(snapshottest.Store(append(entries, other)...), nil, snapshottest.Now)
	f.Fuzz(func(t *testing.T, forecast, key, text, activation string) {
		r := ref("forecast", forecast, "activation", activation, key, text)
		named := r.GetScalerMetadata()["forecast"]
		metrics, err := scaler.GetMetrics(t.Context(), &pb.GetMetricsRequest{ScaledObjectRef: r, MetricName: named})
		checkAnswer(t, err)
		if err == nil {
			v := metrics.GetMetricValues()[0]
			if !(v.GetMetricValueFloat() >= 0 && v.GetMetricValueFloat() < 1e6) || v.GetMetricValue() < 0 {
				t.Errorf("%q: value %v", r.GetScalerMetadata(), v)
			}
			if named == "secret" {
				t.Errorf("%q: another namespace's", r.GetScalerMetadata())
			}
		}
		specs, err := scaler.GetMetricSpec(t.Context(), r)
		checkAnswer(t, err)
		if err == nil {
			s := specs.GetMetricSpecs()[0]
			if !(s.GetTargetSizeFloat() >= 0.001) || s.GetTargetSize() < 1 ||
				float64(s.GetTargetSize()) < s.GetTargetSizeFloat() {
				t.Errorf("%q: target %v", r.GetScalerMetadata(), s)
			}
		}
	})
}

func checkAnswer(t *testing.T, err error) {
	t.Helper()
	sound := []codes.Code{codes.OK, codes.InvalidArgument, codes.NotFound, codes.Unavailable}
	if !slices.Contains(sound, status.Code(err)) || len(status.Convert(err).Message()) > 2048 {
		t.Errorf("error %.200v", err)
	}
}

// requests are what KEDA sends for a plain trigger, and for one with everything.
func requests() map[string]*pb.GetMetricsRequest {
	plain, all := ref("forecast", "model-7"), ref("forecast", "model-7", "target", "64", "activation", "0.5",
		"horizon", "5m", "quantile", "0.99")
	out := make(map[string]*pb.GetMetricsRequest)
	for name, r := range map[string]*pb.ScaledObjectRef{"plain": plain, "all": all} {
		r.Namespace = "team-0"
		out[name] = &pb.GetMetricsRequest{ScaledObjectRef: r, MetricName: "model-7"}
	}
	return out
}

func TestAllocations(t *testing.T) {
	scaler := keda.New(snapshottest.Store(snapshottest.Many(50)...), nil, snapshottest.Now)
	for name, request := range requests() {
		got := testing.AllocsPerRun(100, func() {
			if _, err := scaler.GetMetrics(context.Background(), request); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%s: %g allocations", name, got)
		if got > 10 {
			t.Errorf("%s: %g allocations, want at most 10", name, got)
		}
	}
}

func BenchmarkGetMetrics(b *testing.B) {
	scaler := keda.New(snapshottest.Store(snapshottest.Many(1000)...), nil, snapshottest.Now)
	for name, request := range requests() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scaler.GetMetrics(context.Background(), request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
