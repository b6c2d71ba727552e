package leadtime_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

func TestRecentStartsAreSortedAndNotOld(t *testing.T) {
	recent := &leadtime.RecentStarts{}
	all := starts(100, noon(), 3*time.Minute)
	rng := rand.New(rand.NewPCG(7, 8))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, s := range all {
		recent.Add(s)
	}
	recent.Add(start(noon().Add(24*time.Hour), -time.Minute))
	got := recent.List()
	newest := noon().Add(99 * time.Minute)
	if last := got[len(got)-1].Ready; !last.Equal(newest) {
		t.Errorf("the newest is of %s, want %s: nonsense must not push out what is true", last, newest)
	}
	if len(got) != 61 || !got[0].Ready.Equal(newest.Add(-time.Hour)) {
		t.Errorf("%d starts since %s, want those of an hour", len(got), got[0].Ready)
	}
	if !slices.IsSortedFunc(got, func(a, b leadtime.Start) int { return a.Ready.Compare(b.Ready) }) {
		t.Error("not in their order")
	}
}

func TestRecentStartsAreBounded(t *testing.T) {
	recent := &leadtime.RecentStarts{}
	for range 5000 {
		recent.Add(start(noon(), time.Minute))
	}
	recent.Add(start(noon().Add(time.Second), time.Minute))
	if got := recent.List(); len(got) != 4096 || !got[4095].Ready.Equal(noon().Add(time.Second)) {
		t.Errorf("%d starts, the last of %s", len(got), got[len(got)-1].Ready)
	}
	if len((&leadtime.RecentStarts{}).List()) != 0 {
		t.Error("something where there is nothing")
	}
}
