package numeric

// Smooth is a function that knows its gradient. Gradient is asked only at the point at which Value was asked last, so
// it may go on from there.
type Smooth interface {
	Value(x []float64) float64
	Gradient(x, dst []float64)
}

// MinimiseSmooth is Minimise for a function that knows its gradient: as many variables as a season has slots cost one
// backward pass and not two evaluations each.
func (q QuasiNewton) MinimiseSmooth(f Smooth, x0 []float64) Result {
	run := newQuasiRun(f.Value, x0, f.Gradient)
	return q.search(run)
}
