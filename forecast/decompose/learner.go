package decompose

import (
	"math"
	"slices"
)

// smoothing is the share of a day over which a profile is averaged, twice: half an hour.
const smoothing = 48

// learner learns the profiles of classes of days, day by day.
type learner struct {
	day int
	// seen are the values of each class and slot, sorted.
	seen [][]float64
	// profiles are the smoothed medians of what was seen of each class; nil where nothing was.
	profiles [][]float64
	spare    []float64
}

// newLearner has room for a number of days in each class.
func newLearner(day, classes, days int) *learner {
	l := &learner{
		day:      day,
		seen:     make([][]float64, classes*day),
		profiles: make([][]float64, classes),
		spare:    make([]float64, day),
	}
	room := make([]float64, classes*day*days)
	for i := range l.seen {
		l.seen[i] = room[i*days : i*days : (i+1)*days]
	}
	return l
}

// add takes a day of a class, as it lies above the level. Gaps are left out, but not all may be gaps.
func (l *learner) add(values []float64, level float64, class int) {
	slots := l.seen[class*l.day : (class+1)*l.day]
	for i, v := range values {
		if !math.IsNaN(v) {
			at, _ := slices.BinarySearch(slots[i], v-level)
			slots[i] = slices.Insert(slots[i], at, v-level)
		}
	}
	if l.profiles[class] == nil {
		l.profiles[class] = make([]float64, l.day)
	}
	profile := l.profiles[class]
	for i, seen := range slots {
		profile[i] = middle(seen)
	}
	bridge(profile)
	for range 2 {
		l.average(profile)
	}
}

// middle is the median of sorted values, NaN where there are none.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// average takes every slot's mean with its neighbours; the last slot's neighbour is the first.
func (l *learner) average(profile []float64) {
	half := l.day / smoothing / 2
	copy(l.spare, profile)
	sum := 0.0
	for k := -half; k < half; k++ {
		sum += l.spare[(k+l.day)%l.day]
	}
	for i := range profile {
		sum += l.spare[(i+half)%l.day]
		profile[i] = sum / float64(2*half+1)
		sum -= l.spare[(i-half+l.day)%l.day]
	}
}
