package atzero_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/atzero"
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
	text, err := r.MarshalText()
	fmt.Println(string(text), err)
	// Output:
	// 23:00 false
	// 03:00 true
	// 07:00 false
	// v1 1795219215+21600 <nil>
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
	text, err := r.MarshalText()
	if err != nil || len(text) > 16<<10 {
		t.Errorf("%d bytes after 2,500 times at zero, %v", len(text), err)
	}
	if _, err := atzero.Read(string(text)); err != nil {
		t.Error(err)
	}
}

func TestTextIsReadAsItIsWritten(t *testing.T) {
	r := look(look(look(atzero.Record{}, true, 0), false, time.Hour), true, 2*time.Hour)
	for _, r := range []atzero.Record{{}, r, look(r, false, 3*time.Hour)} {
		text, err := r.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		read, err := atzero.Read(string(text))
		if diff := cmp.Diff(r, read); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
}

func TestForeignTexts(t *testing.T) {
	for _, text := range []string{
		"", "v2", "v1 ", "v1 5", "v1 +", "v1 5+ 6+", "v1 5+10 14+", "v1 05+1", "v1 5+-1", "v1 -5+1", "v1 5++1", "v1  5+1",
		"v1 99999999999999999999+", "v1 5+9999999999999", "v1" + strings.Repeat(" 1+0", 1000), "v1 5+\n", "v1 0x5+",
	} {
		if r, err := atzero.Read(text); !errors.Is(err, atzero.ErrText) || r.Any() {
			t.Errorf("%.40q: %v, %v", text, r, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("v1 1795219215+21600 1795262520+")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := atzero.Read(text)
		if err != nil {
			return
		}
		again, err := r.MarshalText()
		if err != nil || string(again) != text {
			t.Errorf("%q is read, and written as %q: %v", text, again, err)
		}
	})
}
