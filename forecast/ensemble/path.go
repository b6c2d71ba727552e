package ensemble

import "math"

// combined is the ensemble's forecast of step i: the blend of its members, corrected.
func (f *Fitted) combined(i int) float64 {
	blend := f.blended(i)
	sum := blend
	for k, c := range f.corrections[f.anchor[i]].coefficients {
		if v := f.members[k].path[i]; c != 0 && !math.IsNaN(v) {
			sum += c * (f.reach(v) - blend)
		}
	}
	return f.floor(f.reach(sum))
}

// blended is the members' mean of step i, by their weights; where no member has a forecast it is the last value.
func (f *Fitted) blended(i int) float64 {
	sum, total := 0.0, 0.0
	for k, w := range f.weights[f.anchor[i]] {
		if v := f.members[k].path[i]; w > 0 && !math.IsNaN(v) {
			sum += w * f.reach(v)
			total += w
		}
	}
	if total == 0 {
		return f.floor(f.scales.last)
	}
	return f.floor(sum / total)
}

// farthest is how many times the largest magnitude that was seen a member may forecast: beyond it lies the extrapolation
// of an exponential.
const farthest = 3

// reach holds a member's forecast within what could be.
func (f *Fitted) reach(v float64) float64 {
	return max(min(v, farthest*f.largest), -farthest*f.largest)
}

// floor keeps a forecast from going below 0 where the series never was.
func (f *Fitted) floor(v float64) float64 {
	if f.signed {
		return v
	}
	return math.Max(v, 0)
}

// recentMax is the maximum of the newest observations.
func (f *Fitted) recentMax() float64 {
	highest := math.Inf(-1)
	for n := range maxReach {
		if v := f.ago(n); v > highest {
			highest = v
		}
	}
	if math.IsInf(highest, -1) {
		return f.scales.last
	}
	return highest
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst. Beyond the horizon the weights are those of
// its last step; the first time that dst is so long it allocates room to work in.
func (f *Fitted) PointsTo(dst []float64) {
	served := copy(dst, f.path)
	if served == len(dst) {
		return
	}
	if len(f.long) < len(dst) {
		f.long = make([]float64, len(dst))
	}
	beyond, path := dst[served:], f.long[:len(dst)]
	clear(beyond)
	total := 0.0
	for k, w := range f.weights[len(f.anchors)-1] {
		if m := f.members[k]; w > 0 && m.fitted != nil {
			m.fitted.PointsTo(path)
			for i := range beyond {
				beyond[i] += w * f.reach(path[served+i])
			}
			total += w
		}
	}
	for i := range beyond {
		if total > 0 {
			beyond[i] = f.floor(beyond[i] / total)
		} else {
			beyond[i] = f.path[served-1]
		}
	}
}
