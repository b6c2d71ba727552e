package direct

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Fitted is the regressions, and what they look at.
type Fitted struct {
	// horizons have a line each, in the unit of scale.
	horizons []int
	lines    []line
	memory   memory
	scale    float64
	// smallest and largest value seen bound what forecasts may reach: they go as far beyond the two as these are apart.
	smallest, largest float64
	missed            int // gaps at the origin
	next              time.Time
	step              time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing: the forecast stays,
// and its standard errors are those of more steps.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *Fitted) observe(y float64) {
	if !numeric.Observed(y) {
		f.missed++
		return
	}
	f.missed = 0
	z := min(max(y/f.scale, -numeric.Limit), numeric.Limit) // The scale may be as small as 1e-307.
	f.smallest, f.largest = math.Min(f.smallest, z), math.Max(f.largest, z)
	f.memory.observe(z)
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst.
func (f *Fitted) PointsTo(dst []float64) {
	var row [width]float64
	f.memory.rowTo(row[:])
	room := f.largest - f.smallest
	low, high := f.smallest-room, f.largest+room
	before, from := 0.0, 0 // the change until the horizon before, and that horizon
	for j, h := range f.horizons {
		change := f.lines[j].at(row[:])
		for i := from; i < min(h, len(dst)); i++ {
			share := float64(i+1-from) / float64(h-from)
			z := f.memory.last + before + share*(change-before)
			dst[i] = f.scale * min(max(z, low), high)
		}
		before, from = change, h
	}
	for i := from; i < len(dst); i++ {
		dst[i] = dst[from-1]
	}
}

// Forecast is the forecast of the coming h steps.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		out.StdErr[i] = f.scale * f.deviation(i+1+f.missed)
	}
	return out
}

// deviation of the errors h steps ahead: between two horizons its square is interpolated, beyond the last it grows as that
// of a random walk.
func (f *Fitted) deviation(h int) float64 {
	before, from := 0.0, 0
	for j, horizon := range f.horizons {
		variance := f.lines[j].deviation * f.lines[j].deviation
		if h <= horizon {
			return math.Sqrt(before + float64(h-from)/float64(horizon-from)*(variance-before))
		}
		before, from = variance, horizon
	}
	return math.Sqrt(before * float64(h) / float64(from))
}
