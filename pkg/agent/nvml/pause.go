//go:build cgo

package nvml

import "time"

const (
	shortest = 5 * time.Second
	longest  = 5 * time.Minute
)

// pause is how long the library is left alone after a failure: five seconds, then twice as long each time, up to five minutes.
// The zero pause is over.
type pause struct {
	length time.Duration
	end    time.Time
}

// over says whether it is time to try again. An end further away than any pause is one of a clock that was set back.
func (p *pause) over(now time.Time) bool {
	return !now.Before(p.end) || p.end.Sub(now) > longest
}

// lengthen begins the next one.
func (p *pause) lengthen(now time.Time) {
	p.length = min(max(2*p.length, shortest), longest)
	p.end = now.Add(p.length)
}
