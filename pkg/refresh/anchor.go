package refresh

import (
	"hash/fnv"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// anchors are the times at which a Forecast is rebuilt from its history: multiples of the refit interval, shifted by an
// offset derived from its name, so that a thousand Forecasts do not refit at once. All times are on the step's grid.
type anchors struct {
	refit, step, offset time.Duration
}

func newAnchors(key snapshot.Key, refit, step time.Duration) anchors {
	hash := fnv.New64a()
	hash.Write([]byte(key.String())) // A hash never fails.
	offset := time.Duration(hash.Sum64() % uint64(refit))
	return anchors{refit: refit, step: step, offset: offset}
}

// newestBefore is the last anchor at or before t.
func (a anchors) newestBefore(t time.Time) time.Time {
	since := t.UnixNano() - int64(a.offset)
	return align(time.Unix(0, since-since%int64(a.refit)+int64(a.offset)), a.step)
}

// align is the last multiple of step since the epoch at or before t.
func align(t time.Time, step time.Duration) time.Time {
	n := t.UnixNano()
	return time.Unix(0, n-n%int64(step)).UTC()
}
