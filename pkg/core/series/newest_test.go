package series_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// The newest sample that can be demand is kept, and what came after it is counted by its fault, until it is too old.
func TestNewest(t *testing.T) {
	start := time.Unix(600, 0)
	block := func(first int, values ...float64) forecast.Series {
		return forecast.Series{Start: start.Add(time.Duration(first) * time.Minute), Step: time.Minute, Values: values}
	}
	dropped := func(n *series.Newest, end int) int {
		at := start.Add(time.Duration(end) * time.Minute)
		d, total := n.Dropped(n.At, at, time.Minute, 5*time.Minute), 0
		for _, count := range d {
			total += count
		}
		return total
	}
	var n series.Newest
	n.Note(block(0, 1, 2.5, -1, math.Inf(1)), 10)
	if n.Value != 2.5 || !n.At.Equal(start.Add(time.Minute)) || dropped(&n, 4) != 2 {
		t.Errorf("%+v, %d dropped: want 2.5 at the second step, and 2 dropped", n, dropped(&n, 4))
	}
	if got := dropped(&n, 20); got != 0 {
		t.Errorf("%d dropped, long after the samples ended", got)
	}
	n.Note(block(3, -1, -1), 10) // The fourth step is replaced.
	if got := dropped(&n, 5); got != 3 {
		t.Errorf("%d dropped, want 3", got)
	}
	n.Note(block(5, -1, -1, -1, -1), 2)
	if got := dropped(&n, 9); got != 2 {
		t.Errorf("%d dropped of the two steps that are kept", got)
	}
	n.Note(block(9, math.NaN(), 7), 10)
	if n.Value != 7 || dropped(&n, 11) != 0 {
		t.Errorf("%+v, %d dropped after a good sample", n, dropped(&n, 11))
	}
}
