package hpa_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// recording holds the results of the controller of Kubernetes 1.37 on generated HPAs;
// hack/components/kubernetes/hpacases writes it and documents its fields.
const recording = "testdata/controller.jsonl.gz"

type recordedCase struct {
	Spec struct {
		Min, Max int32
		Metrics  []struct {
			Source hpa.MetricType
			Type   hpa.TargetType
			Target int64
		}
		Up, Down      *recordedRules
		Tolerance     float64
		Stabilization int64
		ScaleToZero   bool
	}
	Syncs []recordedSync
}

type recordedRules struct {
	Stabilization *int64
	Select        hpa.Select
	Policies      []struct {
		Type   hpa.PolicyType
		Value  int32
		Period int64
	}
	Tolerance string
}

type recordedSync struct {
	At                              int64
	Replicas, Existing, Pods, Ready int32
	Readings                        [][]int64
	Result                          int32
	Active, Able, Limited           string
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

func (c *recordedCase) spec(t *testing.T) hpa.Spec {
	t.Helper()
	s := hpa.Spec{Min: c.Spec.Min, Max: c.Spec.Max, Cluster: hpa.Cluster{
		Tolerance:              c.Spec.Tolerance,
		DownscaleStabilization: seconds(c.Spec.Stabilization),
		ScaleToZero:            c.Spec.ScaleToZero,
	}}
	for _, m := range c.Spec.Metrics {
		s.Metrics = append(s.Metrics, hpa.Metric{Name: "m", Source: m.Source, Type: m.Type, Target: m.Target})
	}
	if c.Spec.Up != nil {
		s.Behavior = &hpa.Behavior{Up: c.Spec.Up.rules(t), Down: c.Spec.Down.rules(t)}
	}
	return s
}

func (r *recordedRules) rules(t *testing.T) hpa.Rules {
	t.Helper()
	out := hpa.Rules{Stabilization: -1, Select: r.Select}
	if r.Stabilization != nil {
		out.Stabilization = seconds(*r.Stabilization)
	}
	if r.Tolerance != "" {
		milli, isMilli := strings.CutSuffix(r.Tolerance, "m")
		tolerance, err := strconv.ParseFloat(milli, 64)
		if err != nil {
			t.Fatal(err)
		}
		if isMilli {
			tolerance /= 1000
		}
		out.Tolerance = &tolerance
	}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, hpa.ScalingPolicy{Type: p.Type, Value: p.Value, Period: seconds(p.Period)})
	}
	return out
}

var errDown = errors.New("the metrics API is down")

func (s *recordedSync) observed() hpa.Observed {
	o := hpa.Observed{Replicas: s.Replicas, Existing: s.Existing, Pods: s.Pods, Ready: s.Ready}
	for _, values := range s.Readings {
		reading := hpa.Reading{Values: values}
		if values == nil {
			reading.Err = errDown
		}
		o.Readings = append(o.Readings, reading)
	}
	return o
}

// differs returns what differs from the recorded result. The conditions keep what an earlier sync set, so a reason
// counts only where this sync returned it.
func (s *recordedSync) differs(got hpa.SyncResult) string {
	active := string(got.Active)
	if got.Active == hpa.FailedGetMetric && strings.HasPrefix(s.Active, "FailedGet") {
		active = s.Active
	}
	able := string(got.Able)
	if got.Replicas != s.Replicas {
		able = "SucceededRescale"
	}
	switch {
	case got.Replicas != s.Result:
		return "replicas"
	case active != "" && active != s.Active:
		return "ScalingActive " + active
	case able != "" && able != s.Able:
		return "AbleToScale " + able
	case got.Limited != "" && string(got.Limited) != s.Limited:
		return "ScalingLimited " + string(got.Limited)
	default:
		return ""
	}
}

// Every recorded sync gives the recorded replicas and conditions.
func TestRecording(t *testing.T) {
	packed, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	cases, syncs := 0, 0
	for ; lines.Scan(); cases++ {
		c := recordedCase{}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		syncs += replay(t, cases, &c)
	}
	if err := lines.Err(); err != nil || syncs < 10_000 {
		t.Fatalf("%d syncs of %d cases, %v", syncs, cases, err)
	}
	t.Logf("%d syncs of %d HPAs agree", syncs, cases)
}

func replay(t *testing.T, number int, c *recordedCase) (syncs int) {
	t.Helper()
	spec := c.spec(t)
	controller, err := hpa.New(spec)
	if err != nil {
		t.Fatalf("case %d: %v", number, err)
	}
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i, s := range c.Syncs {
		got := controller.Sync(start.Add(time.Duration(s.At)*time.Millisecond), s.observed())
		if what := s.differs(got); what != "" {
			t.Errorf("case %d, sync %d: %s\n  recorded %+v\n  computed %+v\n  spec %+v",
				number, i, what, s, got, c.Spec)
			return i
		}
	}
	return len(c.Syncs)
}
