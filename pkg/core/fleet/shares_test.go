package fleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/fleet"
)

// Consumers get their shares, and no GPU is given twice.
func TestShares(t *testing.T) {
	f := fleet.Fleet{GPUs: 34, Members: []fleet.Member{office("chat")}, Batch: []fleet.Consumer{
		{Name: "a", GPUs: 1, Share: 2, Run: 20 * time.Minute}, {Name: "b", GPUs: 4, Share: 1, Run: 20 * time.Minute},
	}}
	got := plan(t, now(), f)
	if got.Batch[0].Replicas != 20 || got.Batch[1].Replicas != 2 {
		t.Errorf("%+v, want 20 replicas of a GPU, and 2 of 4 GPUs", got.Batch)
	}
}

// Replicas of another consumer that hold more than its share, because nodes are gone or the shares have changed, keep their GPUs until their
// runs end. No other run is started on them.
func TestRunsOfOtherConsumersKeepTheirGPUs(t *testing.T) {
	for name, c := range map[string]struct {
		gpus    float64
		running [2]int
		want    [2]int
		why     string
	}{
		"within their shares":        {34, [2]int{15, 15}, [2]int{15, 15}, ""},
		"the longer runs hold more":  {34, [2]int{0, 25}, [2]int{5, 15}, "Running replicas of other consumers leave 5 GPUs"},
		"the shorter runs hold more": {34, [2]int{20, 0}, [2]int{15, 10}, ""},
		"nodes are gone":             {24, [2]int{7, 15}, [2]int{7, 10}, "Running replicas of other consumers leave 5 GPUs"},
		"none must end early":        {14, [2]int{15, 15}, [2]int{5, 5}, "Running replicas of other consumers leave 0 GPUs"},
	} {
		f := fleet.Fleet{GPUs: c.gpus, Members: []fleet.Member{member("chat", func(time.Time) float64 { return 4 })}}
		f.Batch = []fleet.Consumer{
			{Name: "a", GPUs: 1, Share: 1, Run: 20 * time.Minute, Running: c.running[0]},
			{Name: "b", GPUs: 1, Share: 1, Run: 2 * time.Hour, Running: c.running[1]},
		}
		p := plan(t, now(), f)
		if got := [2]int{p.Batch[0].Replicas, p.Batch[1].Replicas}; got != c.want {
			t.Errorf("%s: %v replicas, want %v", name, got, c.want)
		}
		got := p.Message(&p.Batch[0])
		if !strings.Contains(got, c.why) || c.why == "" && strings.Contains(got, "other consumers") {
			t.Errorf("%s: %s", name, got)
		}
	}
	// Short runs that a ramp lets end do not keep longer ones from their share, and the other way round.
	f := fleet.Fleet{GPUs: 32, Members: []fleet.Member{office("chat")}}
	f.Batch = []fleet.Consumer{
		{Name: "a", GPUs: 1, Share: 1, Run: 20 * time.Minute, Running: 14},
		{Name: "b", GPUs: 1, Share: 1, Run: 2 * time.Hour, Running: 14},
	}
	if got := plan(t, now(), f).Batch; got[0].Replicas != 14 || got[1].Replicas != 6 {
		t.Errorf("%+v, want 14 short runs and 6 long ones", got)
	}
}
