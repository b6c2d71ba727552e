package ensemble

import "math"

// seedWeight is for how many observed losses the mean loss over the whole of a replay counts at its beginning, at most.
const seedWeight = 48

// replay takes values as if they came one at a time, each forecast before it is seen. The members' forecasts do not
// depend on each other, so they are made first; how well each did over the whole replay then seeds its losses. Without
// that the weights would know nothing before the first forecasts fall due, and the errors of that ignorance would widen
// the quantiles.
func (f *Fitted) replay(values []float64) {
	scripts := make([][]float64, len(f.members))
	for k, m := range f.members {
		scripts[k] = m.rehearse(values)
		f.seed(k, scripts[k], values)
	}
	f.weigh()
	f.recite(scripts, 0)
	f.file()
	for i, y := range values {
		f.observe(y)
		f.resolve()
		f.recite(scripts, i+1)
		f.file()
	}
}

// rehearse forecasts from every origin of the replay in turn and gives the paths, one after the other.
func (m *member) rehearse(values []float64) []float64 {
	script := make([]float64, 0, (len(values)+1)*len(m.path))
	m.look()
	script = append(script, m.path...)
	for _, y := range values {
		m.advance(y)
		m.look()
		script = append(script, m.path...)
	}
	return script
}

// seed gives member k the mean of its losses over the whole replay to begin with.
func (f *Fitted) seed(k int, script, values []float64) {
	for j, h := range f.anchors {
		sum, n := 0.0, 0.0
		for origin := 0; origin+h <= len(values); origin++ {
			if e := math.Abs(values[origin+h-1] - script[origin*f.horizon+h-1]); !math.IsNaN(e) {
				n++
				sum += (e - sum) / n
			}
		}
		if n > 0 {
			weight := min(seedWeight, n)
			f.losses[j][k] = record{sum: weight * sum, weight: weight}
		}
	}
}

// recite lets the members look from an origin of the replay.
func (f *Fitted) recite(scripts [][]float64, origin int) {
	for k, m := range f.members {
		copy(m.path, scripts[k][origin*f.horizon:])
	}
	f.look()
}
