package refresh

import (
	"hash/fnv"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/snapshot"
)

// Young series are rebuilt more often than the refit interval: first when they have seen so many steps (no later than
// after so much time), then whenever they have grown by half.
const (
	youngestSteps = 20
	youngestTime  = 10 * time.Minute
	growth        = 1.5
)

// anchors are the moments at which a Forecast is rebuilt from its history: multiples of the refit interval, moved by an
// offset that follows from its name so that a thousand Forecasts do not refit at once. All times are on the step's grid.
type anchors struct {
	refit, step, offset time.Duration
}

func newAnchors(key snapshot.Key, refit, step time.Duration) anchors {
	hash := fnv.New64a()
	hash.Write([]byte(key.String())) // A hash never fails.
	offset := time.Duration(hash.Sum64() % uint64(refit))
	return anchors{refit: refit, step: step, offset: offset}
}

// regular is the last anchor at or before t.
func (a anchors) regular(t time.Time) time.Time {
	since := t.UnixNano() - int64(a.offset)
	return align(time.Unix(0, since-since%int64(a.refit)+int64(a.offset)), a.step)
}

// at is the last anchor at or before t for a series whose first sample was taken at first: the regular one, or a later
// one of its youth.
func (a anchors) at(t, first time.Time) time.Time {
	anchor := a.regular(t)
	age, youngest := t.Sub(first), min(youngestSteps*a.step, youngestTime)
	if age < youngest {
		return anchor
	}
	times := math.Floor(math.Log(float64(age)/float64(youngest)) / math.Log(growth))
	young := align(first.Add(time.Duration(float64(youngest)*math.Pow(growth, times))), a.step)
	if young.After(anchor) && !young.After(t) {
		return young
	}
	return anchor
}

// align is the last multiple of step since the epoch at or before t.
func align(t time.Time, step time.Duration) time.Time {
	n := t.UnixNano()
	return time.Unix(0, n-n%int64(step)).UTC()
}
