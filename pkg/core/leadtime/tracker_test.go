package leadtime_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// at is a time of the tests, in seconds after noon.
func at(seconds int) time.Time { return noon().Add(time.Duration(seconds) * time.Second) }

// pending has just been created; scheduled has a node; loading runs and is not ready; ready is ready.
func pending() leadtime.Pod { return leadtime.Pod{UID: "a", Created: at(0)} }

func scheduled() leadtime.Pod {
	p := pending()
	p.Scheduled, p.Acknowledged, p.ReadyChanged = at(1), at(2), at(2)
	return p
}

func loading() leadtime.Pod {
	p := scheduled()
	p.Started = at(40)
	return p
}

func ready(seconds int) leadtime.Pod {
	p := loading()
	p.Ready, p.ReadyChanged = true, at(seconds)
	return p
}

// unready was ready, and lost its readiness long after.
func unready() leadtime.Pod {
	p := ready(5000)
	p.Ready = false
	return p
}

func restarted(p leadtime.Pod) leadtime.Pod {
	p.Restarted, p.Started = true, at(100)
	return p
}

func ended(p leadtime.Pod) leadtime.Pod {
	p.Ended = true
	return p
}

func failing(p leadtime.Pod) leadtime.Pod {
	p.Failing = true
	return p
}

func TestPodTracker(t *testing.T) {
	for _, c := range []struct {
		name string
		seen []leadtime.Pod
		// want is when the measured start was ready, in seconds; 0 for none.
		want int
	}{
		{"seen from its creation on", []leadtime.Pod{pending(), scheduled(), loading(), ready(240)}, 240},
		{"seen first when it was loading", []leadtime.Pod{loading(), ready(240)}, 240},
		{"loading and ready in one step", []leadtime.Pod{pending(), ready(240)}, 240},
		{"never ready", []leadtime.Pod{pending(), scheduled(), loading(), loading()}, 0},
		{"seen first when it was ready", []leadtime.Pod{ready(240)}, 0},
		{"listed again by a watch that broke", []leadtime.Pod{loading(), ready(240), ready(240)}, 240},
		{"lost its readiness and has it back", []leadtime.Pod{loading(), ready(240), unready(), ready(9000)}, 240},
		{"seen first between two times of readiness", []leadtime.Pod{unready(), ready(9000)}, 0},
		{"a container failed before it was ready", []leadtime.Pod{loading(), restarted(loading()), restarted(ready(400))}, 0},
		{"seen first after such a failure", []leadtime.Pod{restarted(loading()), ready(400)}, 0},
		{"a container failed long after", []leadtime.Pod{loading(), ready(240), restarted(unready()), ready(9000)}, 240},
		{"its image could not be pulled for hours", []leadtime.Pod{scheduled(), failing(scheduled()), loading(), ready(9000)}, 0},
		{"an image pull that failed long after", []leadtime.Pod{loading(), ready(240), failing(unready()), ready(9000)}, 240},
		{"deleted while it was loading", []leadtime.Pod{loading(), ended(loading()), ended(ready(240))}, 0},
		{"the node is lost, and back", []leadtime.Pod{ready(240), unready(), ready(6000)}, 0},
	} {
		firsts := leadtime.PodTracker{}
		found := []leadtime.Start{}
		for _, p := range c.seen {
			if s, ok := firsts.Observe(p); ok {
				found = append(found, s)
			}
		}
		switch {
		case c.want == 0 && len(found) > 0:
			t.Errorf("%s: found %+v", c.name, found)
		case c.want > 0 && (len(found) != 1 || !found[0].Ready.Equal(at(c.want)) || found[0].Validate() != nil):
			t.Errorf("%s: found %+v, want one that was ready after %d s", c.name, found, c.want)
		}
	}
}

func TestPodsBeyondTheBoundAreNotFollowed(t *testing.T) {
	firsts := leadtime.PodTracker{}
	for i := range leadtime.MaxPods + 100 {
		p := loading()
		p.UID = strconv.Itoa(i)
		firsts.Observe(p)
	}
	if len(firsts) != leadtime.MaxPods {
		t.Errorf("%d entries, want %d", len(firsts), leadtime.MaxPods)
	}
	p := ready(240)
	p.UID = "0"
	if _, ok := firsts.Observe(p); !ok {
		t.Error("a pod within the bound is not measured")
	}
}

func TestForgottenPodsTakeNoRoom(t *testing.T) {
	firsts := leadtime.PodTracker{}
	firsts.Observe(loading())
	firsts.Forget("a")
	if len(firsts) != 0 {
		t.Errorf("%d entries", len(firsts))
	}
}
