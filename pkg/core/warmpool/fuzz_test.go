package warmpool_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

// Every restored memory can be planned from.
func FuzzRestoreMemory(f *testing.F) {
	f.Add(int64(1795305600000), int64(4), int64(9000), int64(1795305480000), int64(6), 3)
	f.Add(int64(-1), int64(1<<62), int64(0), int64(0), int64(-1), 33)
	f.Fuzz(func(t *testing.T, at, chunks, thousandths, wantedAt, wanted int64, n int) {
		wants := make([]warmpool.Want, min(max(n, 0), 100))
		for i := range wants {
			wants[i] = warmpool.Want{At: wantedAt + int64(i), Total: wanted, Base: wanted / 2}
		}
		p := warmpool.Past{
			At:           at,
			Ready:        chunks,
			Placed:       thousandths,
			Claimed:      chunks,
			Idle:         thousandths,
			Unseen:       at,
			Lost:         thousandths,
			Gained:       thousandths,
			Matching:     wantedAt,
			Borrowed:     thousandths,
			Covers:       n%2 == 0,
			TurningSince: wantedAt,
		}
		m, err := warmpool.RestoreMemory(p, wants)
		if err != nil {
			if !errors.Is(err, warmpool.ErrMemory) || m != (warmpool.Memory{}) {
				t.Fatalf("%v, and %+v", err, m)
			}
			return
		}
		if m.Past() != p || !slices.Equal(m.Wants(), wants) {
			t.Fatalf("%+v of %+v and %+v", m, p, wants)
		}
		plan, next := m.Plan(noon(), plain(), []warmpool.Member{wanting(5)}, warmpool.Capacity{Held: 4, Ready: 3})
		if err := check(plain(), plan, next); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRestoreMemoryRefuses(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain()}
	s.play(10*time.Minute, wanting(6))
	s.play(2*time.Minute, wanting(3))
	for what, spoil := range map[string]func(*warmpool.Past, *[]warmpool.Want){
		"a plan before 1970":       func(p *warmpool.Past, _ *[]warmpool.Want) { p.At = -1 },
		"a plan after all time":    func(p *warmpool.Past, _ *[]warmpool.Want) { p.At = math.MaxInt64 },
		"less than nothing ready":  func(p *warmpool.Past, _ *[]warmpool.Want) { p.Ready = -1 },
		"beyond all bounds":        func(p *warmpool.Past, _ *[]warmpool.Want) { p.Ready = 9999999 },
		"placed beyond all bounds": func(p *warmpool.Past, _ *[]warmpool.Want) { p.Placed = math.MaxInt64 },
		"claimed beyond all":       func(p *warmpool.Past, _ *[]warmpool.Want) { p.Claimed = math.MinInt64 },
		"idle for ever":            func(p *warmpool.Past, _ *[]warmpool.Want) { p.Idle = math.MaxInt64 },
		"unseen for ever":          func(p *warmpool.Past, _ *[]warmpool.Want) { p.Unseen = math.MaxInt64 },
		"lost beyond all":          func(p *warmpool.Past, _ *[]warmpool.Want) { p.Lost = math.MaxInt64 },
		"gained beyond all":        func(p *warmpool.Past, _ *[]warmpool.Want) { p.Gained = math.MaxInt64 },
		"matched before 1970":      func(p *warmpool.Past, _ *[]warmpool.Want) { p.Matching = -1 },
		"borrowed beyond all":      func(p *warmpool.Past, _ *[]warmpool.Want) { p.Borrowed = math.MaxInt64 },
		"turning before 1970":      func(p *warmpool.Past, _ *[]warmpool.Want) { p.TurningSince = -1 },
		"a want before 1970":       func(_ *warmpool.Past, w *[]warmpool.Want) { (*w)[0].At = -1 },
		"a want of less than none": func(_ *warmpool.Past, w *[]warmpool.Want) { (*w)[0].Total = -1 },
		"a base beyond all":        func(_ *warmpool.Past, w *[]warmpool.Want) { (*w)[0].Base = math.MaxInt64 },
		"too many wants":           func(_ *warmpool.Past, w *[]warmpool.Want) { *w = slices.Repeat(*w, 40) },
	} {
		p, wants := s.memory.Past(), slices.Clone(s.memory.Wants())
		spoil(&p, &wants)
		if m, err := warmpool.RestoreMemory(p, wants); !errors.Is(err, warmpool.ErrMemory) || m != (warmpool.Memory{}) {
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
