package refresh

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// sampled is the newest sample of a block in double precision: the store holds single precision.
type sampled struct {
	at    time.Time
	value float64
}

// note notes the newest sample of a block that can be demand, if it has one.
func (s *sampled) note(block forecast.Series) {
	for i, v := range slices.Backward(block.Values) {
		if v = series.CleanSample(v, new(series.Dropped)); !math.IsNaN(v) {
			*s = sampled{block.TimeAt(i), v}
			return
		}
	}
}

// valueAt is the sample of a time, or another value where that is not known.
func (s *sampled) valueAt(at time.Time, other float64) float64 {
	if s.at.Equal(at) {
		return s.value
	}
	return other
}
