package warmpool_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/warmpool"
)

// Whatever is read is written again as it was, and can be planned from.
func FuzzUnmarshalText(f *testing.F) {
	s := &tale{t: &testing.T{}, now: noon(), pool: plain()}
	for range 3 {
		text, err := s.memory.MarshalText()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
		s.play(7*time.Minute, wanting(6))
		s.play(2*time.Minute, doubted(wanting(2)))
	}
	f.Add("v1 at=-1")
	f.Fuzz(func(t *testing.T, text string) {
		var m warmpool.Memory
		if err := m.UnmarshalText([]byte(text)); err != nil {
			if !errors.Is(err, warmpool.ErrText) || m != (warmpool.Memory{}) {
				t.Fatalf("%v, and %+v", err, m)
			}
			return
		}
		if again, err := m.MarshalText(); err != nil || string(again) != text {
			t.Fatalf("%q, read as %q: %v", again, text, err)
		}
		p := plain()
		plan, next := m.Plan(noon(), p, []warmpool.Member{wanting(5)}, warmpool.Capacity{Held: 4, Ready: 3})
		if err := check(p, plan, next); err != nil {
			t.Fatal(err)
		}
	})
}

func TestUnmarshalTextRefuses(t *testing.T) {
	s := &tale{t: t, now: noon(), pool: plain()}
	s.play(10*time.Minute, wanting(6))
	s.play(2*time.Minute, wanting(3))
	good, err := s.memory.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	for what, edit := range map[string]func(string) string{
		"nothing":            func(string) string { return "" },
		"another version":    func(text string) string { return "v2" + text[2:] },
		"a field too many":   func(text string) string { return text + " more=1" },
		"another name":       func(text string) string { return strings.Replace(text, "ready=", "steady=", 1) },
		"a sign":             func(text string) string { return strings.Replace(text, "ready=", "ready=+", 1) },
		"a zero too many":    func(text string) string { return strings.Replace(text, "ready=", "ready=0", 1) },
		"beyond all bounds":  func(text string) string { return strings.Replace(text, "ready=", "ready=9999999", 1) },
		"no wants":           func(text string) string { return strings.Replace(text, "wants=", "wishes=", 1) },
		"a want of two":      func(text string) string { return text + ",1:2" },
		"a want of words":    func(text string) string { return text + ",1:2:many" },
		"too many wants":     func(text string) string { return text + strings.Repeat(",1:2:3", 40) },
		"more than is read":  func(text string) string { return text + strings.Repeat(",1:2:3", 1000) },
		"a comma at the end": func(text string) string { return text + "," },
	} {
		m := s.memory
		if err := m.UnmarshalText([]byte(edit(string(good)))); !errors.Is(err, warmpool.ErrText) || m != s.memory {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(uint64(1), int64(0), 5, 5)
	f.Add(uint64(2), int64(-1<<62), -1, 1<<62)
	f.Add(uint64(3), int64(1<<62), 1<<62, -1)
	f.Fuzz(func(t *testing.T, seed uint64, nanoseconds int64, held, ready int) {
		rng := rand.New(rand.NewPCG(seed, 1))
		now := time.Unix(0, nanoseconds)
		var m warmpool.Memory
		for range 3 {
			p, c := oddPool(rng), warmpool.Capacity{Held: held, Ready: ready}
			plan, next := m.Plan(now, p, oddMembers(rng, now), c)
			if err := check(p, plan, next); err != nil {
				t.Fatal(err)
			}
			now, m = now.Add(oddSpan(rng, time.Hour)), next
		}
	})
}
