package simulate_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// recorded is a moment of a real control plane.
type recorded struct {
	Seconds         float64
	Milli           int64
	Replicas, Ready int
}

func readRecording(t *testing.T) []recorded {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "controlplane.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // Read only.
	var out []recorded
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var m recorded
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// valueAt is what the HPA could read at a time: that of the last moment before.
func valueAt(all []recorded, at time.Duration) float64 {
	value := float64(all[0].Milli)
	for _, m := range all {
		if m.Seconds > at.Seconds() {
			break
		}
		value = float64(m.Milli)
	}
	return value / 1000
}

// TestControlPlane plays to the simulator what an HPA read on a real control plane (hack/e2e, TestRecord: nine minutes,
// pods that take 40 s, the stock HPA with a stabilization of a minute). At every moment the replicas that were asked for
// are what the simulator had within one sync of it, and so are those that were ready, or between two that it had: pods
// that were started together do not become ready in the same instant.
//
// The real syncs are some milliseconds more than 15 s apart. A recommendation of a minute ago therefore no longer holds
// there, and just does here: every scale-down of the simulator is a sync later.
func TestControlPlane(t *testing.T) {
	const (
		sync, fine = 15 * time.Second, 500 * time.Millisecond
		// phase is when the controller looked first after the recording began, as its changes show.
		phase = 5 * time.Second
	)
	all := readRecording(t)
	length := all[len(all)-1].at() - phase + sync
	c := simulate.Config{
		Demand: forecast.Series{Start: time.Unix(0, 0).UTC(), Step: fine, Values: make([]float64, length/fine)},
		Spec: sim.Spec{
			Sync: sync, Capacity: 10, PodLead: sim.Constant(40 * time.Second),
			HPA: hpa.Spec{
				Min: 1, Max: 20, Cluster: hpa.Cluster{Tolerance: 0.1, DownscaleStabilization: time.Minute},
				Metrics: []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: 10_000}},
			},
		},
	}
	c.Demand.Values[0] = 25 // It begins with three replicas.
	var values []float64
	for at := phase; at < phase+length; at += sync {
		values = append(values, valueAt(all, at))
	}
	simulated, _ := moments(t, c, simulate.NewTape(values))
	changes := 0
	for i, m := range all {
		begin, end := int((m.at()-phase-sync)/fine), int((m.at()-phase+sync)/fine)+1
		around := simulated[max(begin, 0):min(end, len(simulated))]
		if readies := column(around, ready); !slices.Contains(column(around, replicas), m.Replicas) ||
			m.Ready < slices.Min(readies) || m.Ready > slices.Max(readies) {
			t.Errorf("at %.1f s there were %d replicas, %d ready; within a sync the simulator has %v and %v",
				m.Seconds, m.Replicas, m.Ready, column(around, replicas), readies)
		}
		if i > 0 && m.Replicas != all[i-1].Replicas {
			changes++
		}
	}
	if changes != 9 {
		t.Errorf("%d changes of the replicas, the recording has 9", changes)
	}
}

func (m recorded) at() time.Duration { return time.Duration(m.Seconds * float64(time.Second)) }
