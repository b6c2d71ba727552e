package capacity

import (
	"math"
	"slices"
	"time"
)

// Band is the moments whose load was in a range.
type Band struct {
	// From and To bound the load: From ≤ load < To. To of the last band is +Inf where there are higher loads.
	From, To float64
	// Calm is how long nothing waited, Growing how long the queue grew.
	Calm, Growing time.Duration
}

// Share is how much of the time the queue grew, NaN where the load never was there.
func (b *Band) Share() float64 { return float64(b.Growing) / float64(b.Growing+b.Calm) }

// bands puts the calm and the growing moments into some eight bands around a load, or around their highest where it is NaN.
func bands(moments []moment, step time.Duration, middle float64) []Band {
	all := loads(moments, func(m moment) bool { return m.state != waiting })
	if len(all) == 0 {
		return nil
	}
	highest := slices.Max(all)
	if math.IsNaN(middle) || middle <= 0 {
		middle = highest
	}
	const toMiddle, most = 5, 9 // bands up to the middle, and in all
	width := roundWidth(middle / toMiddle)
	if !(width > 0) {
		return []Band{singleBand(moments, step)}
	}
	out := make([]Band, min(int(min(highest/width, most))+1, most))
	for i := range out {
		out[i].From, out[i].To = float64(i)*width, float64(i+1)*width
	}
	if last := &out[len(out)-1]; highest >= last.To {
		last.To = math.Inf(1)
	}
	for _, m := range moments {
		out[int(min(m.load/width, float64(len(out)-1)))].add(m, step)
	}
	return out
}

// singleBand is one band of all loads.
func singleBand(moments []moment, step time.Duration) Band {
	b := Band{To: math.Inf(1)}
	for _, m := range moments {
		b.add(m, step)
	}
	return b
}

func (b *Band) add(m moment, step time.Duration) {
	switch m.state {
	case calm:
		b.Calm += step
	case growing:
		b.Growing += step
	case waiting:
	}
}

// roundWidth is a width as people choose it: 1, 2, 2.5 or 5 times a power of ten, the nearest.
func roundWidth(width float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(width)))
	best := power
	for _, times := range []float64{2, 2.5, 5, 10} {
		if math.Abs(times*power-width) < math.Abs(best-width) {
			best = times * power
		}
	}
	return best
}
