package demand_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// midnight is the start of the tests. Observations take effect 15 s later.
func midnight() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }

const notice = 15 * time.Second

func after(d time.Duration) time.Time { return midnight().Add(d) }

func observed(r demand.ZeroPeriods, zero bool, at time.Duration) demand.ZeroPeriods {
	r, _ = r.Observe(zero, after(at))
	return r
}

// slept is a record with a period at zero that was observed every ten minutes.
func slept(r demand.ZeroPeriods, from, to time.Duration) demand.ZeroPeriods {
	for at := from; at < to; at += 10 * time.Minute {
		r = observed(r, true, at)
	}
	return observed(r, false, to)
}

// A workload is scaled to zero from midnight to six.
func ExampleZeroPeriods() {
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	var r demand.ZeroPeriods
	for minutes := 0; minutes < 360; minutes += 10 {
		r, _ = r.Observe(true, midnight.Add(time.Duration(minutes)*time.Minute))
	}
	r, _ = r.Observe(false, midnight.Add(6*time.Hour))
	for _, hour := range []int{-1, 3, 7} {
		at := midnight.Add(time.Duration(hour) * time.Hour)
		fmt.Println(at.Format("15:04"), r.At(at))
	}
	fmt.Println(r.Changes())
	// Output:
	// 23:00 false
	// 03:00 true
	// 07:00 false
	// [1795219215 1795240815]
}

func TestAnObservationTakesEffectAfterTheNotice(t *testing.T) {
	scaledDown, changed := demand.ZeroPeriods{}.Observe(true, midnight())
	if !changed || scaledDown.At(after(notice-time.Second)) || !scaledDown.At(after(notice)) ||
		!scaledDown.At(after(20*time.Minute-time.Second)) {
		t.Errorf("scaled to zero from midnight: changed %v, %v", changed, scaledDown)
	}
	if _, changed = scaledDown.Observe(true, after(9*time.Minute)); changed {
		t.Error("a second equal observation changes something")
	}
	scaledUp, changed := scaledDown.Observe(false, after(15*time.Minute))
	if end := 15*time.Minute + notice; !changed || !scaledUp.At(after(end-time.Second)) || scaledUp.At(after(end)) {
		t.Errorf("scaled up after a quarter of an hour: changed %v, %v", changed, scaledUp)
	}
	if !scaledDown.At(after(19 * time.Minute)) {
		t.Error("the record before has changed")
	}
	if from, zero := scaledUp.ZeroSince(after(time.Minute)); !zero || !from.Equal(after(notice)) {
		t.Errorf("scaled to zero from %s, %v", from, zero)
	}
}

// What no one observes is not zero for ever: not after the last observation, nor in a record of an earlier release. The time
// in between stays unknown when it is observed again.
func TestZeroLastsAsLongAsItIsObserved(t *testing.T) {
	old, err := demand.NewZeroPeriods([]int64{after(0).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	bounded, changed := old.Bounded(after(time.Hour))
	if again, twice := bounded.Bounded(after(2 * time.Hour)); !changed || twice || !again.Equal(bounded) {
		t.Errorf("bounded: %v, %v, then %v, %v", bounded, changed, again, twice)
	}
	for name, r := range map[string]demand.ZeroPeriods{
		"observed for an hour":   slept(demand.ZeroPeriods{}, -notice, time.Hour+9*time.Minute),
		"of an earlier release":  bounded,
		"observed after a break": observed(observed(demand.ZeroPeriods{}, true, -notice), true, time.Hour),
	} {
		broken := name == "observed after a break"
		if r.At(after(90*time.Minute)) || r.At(after(30*time.Minute)) == broken ||
			!r.At(after(time.Hour+5*time.Minute)) {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// An observation never changes a second that a step may already have used.
func TestPastSecondsDoNotChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var r demand.ZeroPeriods
	now, zero := time.Duration(0), false
	for range 300 {
		now += time.Duration(rng.IntN(40)) * time.Second
		if rng.IntN(5) == 0 { // No one observes for a while.
			now += time.Duration(rng.IntN(40)) * time.Minute
		}
		if rng.IntN(3) == 0 {
			zero = !zero
		}
		before := r
		r = observed(r, zero, now)
		for back := range 200 {
			at := after(now + notice - time.Duration(back+1)*time.Second)
			if before.At(at) != r.At(at) {
				t.Fatalf("an observation at %s changes %s: %v, then %v", now, at, before, r)
			}
		}
		if at := after(now + notice); r.At(at) != zero {
			t.Fatalf("after an observation at %s at %v: %v", now, zero, r)
		}
	}
}

func TestNewestStep(t *testing.T) {
	// Scaled to zero from 15 s to 75 s and from 1 h 0 min 15 s to 1 h 0 min 25 s.
	r := observed(observed(observed(observed(demand.ZeroPeriods{}, true, 0), false, time.Minute), true, time.Hour),
		false, time.Hour+10*time.Second)
	for _, tt := range []struct {
		words string
		at    time.Duration
		step  time.Duration
		want  time.Duration // 0 for none
	}{
		{"within", 60 * time.Second, 30 * time.Second, 60 * time.Second},
		{"after", 30 * time.Minute, 30 * time.Second, 60 * time.Second},
		{"before", 0, 30 * time.Second, 0},
		{"a time at zero between two steps", 2 * time.Hour, 30 * time.Second, 60 * time.Second},
		{"the same on a finer grid", 2 * time.Hour, 5 * time.Second, time.Hour + 20*time.Second},
		{"no step at zero at all", 2 * time.Hour, time.Hour, 0},
	} {
		got, zero := r.NewestStep(after(tt.at), tt.step)
		if zero != (tt.want > 0) || zero && !got.Equal(after(tt.want)) {
			t.Errorf("%s: %s, %v; want %s", tt.words, got, zero, tt.want)
		}
	}
}

func TestOldPeriodsAreDropped(t *testing.T) {
	var r demand.ZeroPeriods
	for day := range 20 {
		r = slept(r, time.Duration(day)*24*time.Hour, time.Duration(day)*24*time.Hour+6*time.Hour)
	}
	r = r.DropBefore(after(10*24*time.Hour + time.Hour))
	if r.At(after(9*24*time.Hour+time.Hour)) || !r.At(after(10*24*time.Hour+2*time.Hour)) ||
		!r.At(after(19*24*time.Hour+time.Hour)) {
		t.Errorf("from the tenth night on: %v", r)
	}
	for i := range 5000 {
		r = observed(r, i%2 == 0, 1000*time.Hour+time.Duration(i)*time.Minute)
	}
	text, err := json.Marshal(r.Changes())
	if err != nil || len(text) > 16<<10 {
		t.Errorf("%d bytes after 2,500 times at zero, %v", len(text), err)
	}
	if _, err := demand.NewZeroPeriods(r.Changes()); err != nil {
		t.Error(err)
	}
}

func TestARecordIsRestoredFromItsChanges(t *testing.T) {
	r := observed(observed(observed(demand.ZeroPeriods{}, true, 0), false, time.Hour), true, 2*time.Hour)
	for _, r := range []demand.ZeroPeriods{{}, r, observed(r, false, 3*time.Hour)} {
		again, err := demand.NewZeroPeriods(r.Changes())
		if diff := cmp.Diff(r, again); err != nil || diff != "" {
			t.Errorf("%v: %v\n%s", r.Changes(), err, diff)
		}
	}
}

func TestInvalidChangesAreRefused(t *testing.T) {
	for name, changes := range map[string][]int64{
		"times that overlap":         {5, 15, 14},
		"an end before the begin":    {5, 4},
		"before 1970":                {-5, 1},
		"only the end before 1970":   {-5, -1},
		"after the year 9999":        {5, 1 << 40},
		"as late as a number can be": {math.MaxInt64},
		"too many":                   make([]int64, 1401),
	} {
		r, err := demand.NewZeroPeriods(changes)
		if !errors.Is(err, demand.ErrChanges) || r.Any() || len(err.Error()) > 200 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// A restored record has the given changes, and a record after an observation can be restored.
func FuzzFromChanges(f *testing.F) {
	f.Add(int64(1795219215), int64(21600), int64(21705), int64(1795262520))
	f.Fuzz(func(t *testing.T, first, second, third, now int64) {
		changes := []int64{first, first + second, first + second + third}
		r, err := demand.NewZeroPeriods(changes)
		if err != nil {
			return
		}
		if !slices.Equal(r.Changes(), changes) {
			t.Errorf("%v of %v", r.Changes(), changes)
		}
		r, _ = r.Observe(now%2 == 0, time.Unix(now%(1<<37), 0))
		if again, err := demand.NewZeroPeriods(r.Changes()); err != nil || !again.Equal(r) {
			t.Errorf("%v after an observation at %d: %v", r, now, err)
		}
	})
}
