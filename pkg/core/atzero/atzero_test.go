package atzero_test

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

	"github.com/forewarm/forewarm/pkg/core/atzero"
)

// midnight is when the stories begin; what is looked at takes effect notice later.
func midnight() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }

const notice = 15 * time.Second

func after(d time.Duration) time.Time { return midnight().Add(d) }

func look(r atzero.Record, zero bool, at time.Duration) atzero.Record {
	r, _ = r.Look(zero, after(at))
	return r
}

// A workload sleeps from midnight to six.
func ExampleRecord() {
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	var r atzero.Record
	r, _ = r.Look(true, midnight)
	r, _ = r.Look(false, midnight.Add(6*time.Hour))
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

func TestALookTakesEffectWhenAllHaveHeardOfIt(t *testing.T) {
	asleep, changed := atzero.Record{}.Look(true, midnight())
	if !changed || asleep.At(after(notice-time.Second)) || !asleep.At(after(notice)) ||
		!asleep.At(after(1000*time.Hour)) {
		t.Errorf("asleep from midnight: changed %v, %v", changed, asleep)
	}
	if _, changed = asleep.Look(true, after(time.Hour)); changed {
		t.Error("a second look that says the same changes something")
	}
	awake, changed := asleep.Look(false, after(time.Hour))
	if end := time.Hour + notice; !changed || !awake.At(after(end-time.Second)) || awake.At(after(end)) {
		t.Errorf("awake after an hour: changed %v, %v", changed, awake)
	}
	if !asleep.At(after(2 * time.Hour)) {
		t.Error("the record before has changed")
	}
	if from, zero := awake.From(after(time.Minute)); !zero || !from.Equal(after(notice)) {
		t.Errorf("at zero from %s, %v", from, zero)
	}
}

// What was said of a second that somebody may have stepped through stays, whatever comes later.
func TestTheStepsThatWereTakenStay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var r atzero.Record
	now, zero := time.Duration(0), false
	for range 300 {
		now += time.Duration(rng.IntN(40)) * time.Second
		if rng.IntN(3) == 0 {
			zero = !zero
		}
		before := r
		r = look(r, zero, now)
		for back := range 200 {
			at := after(now + notice - time.Duration(back+1)*time.Second)
			if before.At(at) != r.At(at) {
				t.Fatalf("a look at %s changes %s: %v, then %v", now, at, before, r)
			}
		}
		if at := after(now + notice); r.At(at) != zero {
			t.Fatalf("after a look at %s at %v: %v", now, zero, r)
		}
	}
}

func TestNewest(t *testing.T) {
	// At zero from 15 s to 75 s and from 1 h 0 min 15 s on to 1 h 0 min 25 s.
	r := look(
		look(look(look(atzero.Record{}, true, 0), false, time.Minute), true, time.Hour),
		false,
		time.Hour+10*time.Second,
	)
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
		got, zero := r.Newest(after(tt.at), tt.step)
		if zero != (tt.want > 0) || zero && !got.Equal(after(tt.want)) {
			t.Errorf("%s: %s, %v; want %s", tt.words, got, zero, tt.want)
		}
	}
}

func TestOldTimesAreForgotten(t *testing.T) {
	var r atzero.Record
	for day := range 20 {
		r = look(r, true, time.Duration(day)*24*time.Hour)
		r = look(r, false, time.Duration(day)*24*time.Hour+6*time.Hour)
	}
	r = r.Since(after(10*24*time.Hour + time.Hour))
	if r.At(after(9*24*time.Hour+time.Hour)) || !r.At(after(10*24*time.Hour+2*time.Hour)) ||
		!r.At(after(19*24*time.Hour+time.Hour)) {
		t.Errorf("from the tenth night on: %v", r)
	}
	for i := range 5000 {
		r = look(r, i%2 == 0, 1000*time.Hour+time.Duration(i)*time.Minute)
	}
	text, err := json.Marshal(r.Changes())
	if err != nil || len(text) > 16<<10 {
		t.Errorf("%d bytes after 2,500 times at zero, %v", len(text), err)
	}
	if _, err := atzero.Of(r.Changes()); err != nil {
		t.Error(err)
	}
}

func TestARecordIsWhatItsChangesSay(t *testing.T) {
	r := look(look(look(atzero.Record{}, true, 0), false, time.Hour), true, 2*time.Hour)
	for _, r := range []atzero.Record{{}, r, look(r, false, 3*time.Hour)} {
		again, err := atzero.Of(r.Changes())
		if diff := cmp.Diff(r, again); err != nil || diff != "" {
			t.Errorf("%v: %v\n%s", r.Changes(), err, diff)
		}
	}
}

func TestChangesThatCannotBe(t *testing.T) {
	for name, changes := range map[string][]int64{
		"times that overlap":         {5, 15, 14},
		"an end before the begin":    {5, 4},
		"before 1970":                {-5, 1},
		"only the end before 1970":   {-5, -1},
		"after the year 9999":        {5, 1 << 40},
		"as late as a number can be": {math.MaxInt64},
		"too many":                   make([]int64, 1401),
	} {
		if r, err := atzero.Of(changes); !errors.Is(err, atzero.ErrChanges) || r.Any() || len(err.Error()) > 200 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// Whatever is read back is what it was, and whatever a look adds can be read back.
func FuzzOf(f *testing.F) {
	f.Add(int64(1795219215), int64(21600), int64(21705), int64(1795262520))
	f.Fuzz(func(t *testing.T, first, second, third, now int64) {
		changes := []int64{first, first + second, first + second + third}
		r, err := atzero.Of(changes)
		if err != nil {
			return
		}
		if !slices.Equal(r.Changes(), changes) {
			t.Errorf("%v of %v", r.Changes(), changes)
		}
		r, _ = r.Look(now%2 == 0, time.Unix(now%(1<<37), 0))
		if again, err := atzero.Of(r.Changes()); err != nil || !again.Equal(r) {
			t.Errorf("%v after a look at %d: %v", r, now, err)
		}
	})
}
