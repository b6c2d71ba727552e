package demand

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// UnitChange is a time at which the unit of a series changes, for example from minutes to seconds, or from bytes to megabytes.
type UnitChange struct {
	// From is the end of the last sample in the old unit, To the time of the first one in the new unit. Samples between them are in
	// neither: pods change one after the other, and the range of a rate mixes both.
	From, To time.Time
	// Factor converts the old unit into the new one: 1/60 after a change from minutes to seconds.
	Factor float64
}

const (
	// unitBlock is the time between two searches for a change of the unit, and the length of the means that are compared.
	unitBlock = 5 * time.Minute
	// To recognize a change, unitBefore means before it are compared with unitAfter means after it. The change itself may take unitGap
	// means. On each side, at least minUnitMeans means must be known and positive.
	unitAfter, unitGap, unitBefore = 8, 2, 24
	minUnitMeans                   = 6
	// unitSeasons is the number of past seasons that determine the usual demand at a time of day.
	unitSeasons = 7

	// unitTolerance is how far the measured factor may be from a conventional factor. It is a difference of logarithms, like unitSpread and
	// maxUnitSpread.
	unitTolerance = 0.22
	// The shape is kept if at least minUnitMeans of the means after the change are close to the new level, and no mean is farther from it
	// than twice maxUnitSpread. A mean is close if its distance is at most unitSpread plus twice the usual distance of the means before the
	// change from their level, and at most maxUnitSpread.
	unitSpread, maxUnitSpread = 0.25, 0.7

	// All means after the change must be beyond usualShare of all earlier means, by at least unprecedentedShare of the change.
	usualShare, unprecedentedShare = 0.95, 0.3
	// A sample is in neither unit if its distance from both levels is more than mixedShare of the change. Of the samples near the change,
	// at most a share of maxStrays may be on the wrong side of it.
	mixedShare, maxStrays = 0.25, 0.15
)

// unitFactors returns the conventional ratios of units: 60 seconds, percent, thousands (1,024 counts as 1,000), 3,600 seconds, and products
// of these. A smaller ratio, such as 8 bits or 24 hours, is treated as a shift of level, because real demand also shifts by that much.
// Models follow such shifts.
func unitFactors() []float64 {
	return []float64{60, 100, 1000, 3600, 60_000, 86_400, 1e6, 3.6e6, 1e9}
}

// UnitBlock is how often a series with a step is searched for a change of its unit, counted from the epoch.
func UnitBlock(step time.Duration) time.Duration { return max(step, unitBlock-unitBlock%step) }

// UnitChanges finds the lasting changes of scale that keep the shape of a series, the oldest first. It finds a change 40 to 50 minutes
// after it, if a season and a half of samples before the change are known. Near the beginning of the series, less is known before a change.
// There, the part of the series up to the anchor is searched backwards. So a change stays known when most samples before it are no longer
// in the history. The result depends only on the samples and the anchor. With steps of more than five minutes, it finds nothing.
//
// A change of the unit multiplies the demand at every time of day by the same conventional factor, within a few minutes. So UnitChanges
// compares the means after a change with the means before it, first relative to the usual demand at their time of day, and then, if that
// shows no change, as they are. The means after a change must also be beyond what is usual at any time, which excludes a demand that goes
// on and off. If a real demand is multiplied by 60 and keeps its shape, its past × 60 is also the best description of it.
func UnitChanges(s forecast.Series, season time.Duration, anchor time.Time) []UnitChange {
	if s.Step > unitBlock {
		return nil
	}
	u := newUnitSearch(s, season)
	until := max(u.first, min(int(anchor.Sub(s.Start)/s.Step), len(s.Values)))
	u.anchor = min((until-u.first)/u.per, len(u.logs))
	out := u.search(s)
	var early []UnitChange
	past := s.Slice(u.first, until)
	past.Values = slices.Clone(past.Values)
	ConvertUnit(past, out)
	for _, c := range u.backwards(past, season) {
		if n := int(c.From.Sub(past.Start)/UnitBlock(s.Step)) - unitBefore; !u.long(u.logs[:max(0, n)]) {
			early = append(early, c)
		}
	}
	out = append(early, out...)
	slices.SortFunc(out, func(a, b UnitChange) int { return a.From.Compare(b.From) })
	return out
}

// ConvertUnit converts a series to its newest unit, in place. Samples in neither unit become gaps.
func ConvertUnit(s forecast.Series, changes []UnitChange) {
	for _, c := range changes {
		for i := range s.Values {
			at := s.TimeAt(i)
			if !at.Before(c.To) {
				break
			}
			if s.Values[i] = math.Min(s.Values[i]*c.Factor, series.MaxSample); !at.Before(c.From) {
				s.Values[i] = math.NaN()
			}
		}
	}
}

// unitSearch searches a series for changes of its unit. logs are the logarithms of the means of blocks; NaN if a mean is unknown or 0.
type unitSearch struct {
	logs []float64
	// first is the index of the first sample of the first mean. per is the number of samples in a mean. season is the number of means in as
	// many whole seasons as last at least a day.
	first, per, season int
	// anchor is the number of means that end before the anchor.
	anchor int
}

// search finds the changes, the oldest first.
func (u *unitSearch) search(s forecast.Series) (out []UnitChange) {
	for end := range u.logs {
		factor, ok := u.changeAt(end + 1)
		if !ok {
			continue
		}
		if change, sharp := u.locate(s, end+1, factor); sharp {
			out = append(out, change)
			u.apply(s, change)
		}
	}
	return out
}

// backwards searches a series backwards for changes, and returns them with the oldest first.
func (u *unitSearch) backwards(s forecast.Series, season time.Duration) []UnitChange {
	reversed := forecast.Series{Start: time.Unix(0, 0), Step: s.Step, Values: s.Values[:len(s.Values)/u.per*u.per]}
	slices.Reverse(reversed.Values)
	r := newUnitSearch(reversed, season)
	out := r.search(reversed)
	for i, c := range out {
		from, to := reversed.End().Sub(c.To), reversed.End().Sub(c.From)
		out[i] = UnitChange{From: s.Start.Add(from), To: s.Start.Add(to), Factor: 1 / c.Factor}
	}
	slices.Reverse(out)
	return out
}

// MayChangeUnit reports whether a part of a series has a jump that may be a change of its unit. Without such a jump, UnitChanges finds
// nothing.
func MayChangeUnit(part forecast.Series) bool {
	if part.Step > unitBlock {
		return false
	}
	u := newUnitSearch(part, part.Step)
	for end := range u.logs {
		if u.jumps(end + 1) {
			return true
		}
	}
	return false
}

func newUnitSearch(s forecast.Series, season time.Duration) unitSearch {
	block, day := UnitBlock(s.Step), 24*time.Hour+season-1
	u := unitSearch{per: int(block / s.Step), season: int((day - day%season) / block)} // Whole seasons, at least a day.
	if past := s.Start.UnixNano() % int64(block); past > 0 {
		u.first = int((int64(block) - past + int64(s.Step) - 1) / int64(s.Step))
	}
	for at := u.first; at+u.per <= len(s.Values); at += u.per {
		mean := math.NaN()
		if values := known(s.Values[at : at+u.per]); 2*len(values) >= u.per {
			mean = 0
			for _, v := range values {
				mean += v / float64(len(values))
			}
		}
		if mean <= 0 {
			mean = math.NaN()
		}
		u.logs = append(u.logs, math.Log(mean))
	}
	return u
}

// jumps reports whether the newest means before an end are far from earlier means.
func (u *unitSearch) jumps(end int) bool {
	split := end - unitAfter - unitGap
	if split < unitAfter {
		return false
	}
	jump := median(u.logs[end-unitAfter:end]) - median(u.logs[split-unitAfter:split])
	return math.Abs(jump) > math.Log(unitFactors()[0])/2
}

// changeAt returns the factor of a change that the newest means before an end show.
func (u *unitSearch) changeAt(end int) (factor float64, ok bool) {
	split := end - unitAfter - unitGap
	if !u.jumps(end) || !u.judges(split) {
		return 0, false
	}
	factor, ok = keepsShape(u.relative(end-unitAfter, end), u.relative(split-unitBefore, split))
	if !ok {
		factor, ok = keepsShape(known(u.logs[end-unitAfter:end]), known(u.logs[split-unitAfter:split]))
	}
	return factor, ok && u.unprecedented(end, math.Log(factor))
}

// judges reports whether enough is known before a mean to judge a change there. A week is enough. A season and a half is enough as long as
// less than that is known after the mean. Once more is known after it, the change is judged backwards instead, because by then the first
// run of a weekly job is over.
func (u *unitSearch) judges(n int) bool {
	return u.long(u.logs[:n]) || u.enough(u.logs[:n]) && !u.enough(u.logs[n:max(n, u.anchor)])
}

func (u *unitSearch) long(logs []float64) bool   { return 2*len(known(logs)) >= 15*u.season }
func (u *unitSearch) enough(logs []float64) bool { return 2*len(known(logs)) >= 3*u.season }

// keepsShape returns the conventional factor between the logarithms before and after a change, and whether the shape is the same otherwise.
func keepsShape(after, before []float64) (factor float64, ok bool) {
	if len(after) < minUnitMeans || len(before) < minUnitMeans {
		return 0, false
	}
	usual, level := median(before), median(after)
	off := unitTolerance
	for _, f := range unitFactors() {
		if d := math.Abs(math.Abs(level-usual) - math.Log(f)); d <= off {
			if factor, off = f, d; level < usual {
				factor = 1 / f
			}
		}
	}
	spread := math.Min(unitSpread+2*median(distances(before, usual)), maxUnitSpread)
	near := 0
	for _, d := range distances(after, level) {
		switch {
		case d <= spread:
			near++
		case d > 2*maxUnitSpread:
			return 0, false
		}
	}
	return factor, factor > 0 && near >= minUnitMeans
}

// relative returns the known means of a range, relative to the usual mean at the same time in earlier seasons.
func (u *unitSearch) relative(from, to int) []float64 {
	var out []float64
	for i := max(from, u.season); i < to; i++ {
		var earlier []float64
		for k := 1; k <= unitSeasons && i >= k*u.season; k++ {
			earlier = append(earlier, u.logs[i-k*u.season])
		}
		out = append(out, u.logs[i]-median(earlier))
	}
	return known(out)
}

// unprecedented reports whether the newest means before an end are beyond the usual means before them.
func (u *unitSearch) unprecedented(end int, change float64) bool {
	direction := math.Copysign(1, change)
	past := known(u.logs[:end-unitAfter-unitGap])
	for i := range past {
		past[i] *= direction
	}
	slices.Sort(past)
	least := past[int(usualShare*float64(len(past)-1))] + unprecedentedShare*math.Abs(change)
	return !slices.ContainsFunc(u.logs[end-unitAfter:end], func(v float64) bool {
		return !(direction*v >= least) // True for NaN.
	})
}

// locate finds the samples in neither unit. sharp is false if the transition is longer than a change of the unit takes, or not clear.
func (u *unitSearch) locate(s forecast.Series, end int, factor float64) (change UnitChange, sharp bool) {
	split := end - unitAfter - unitGap
	first := u.first + (split-1)*u.per
	// The position of each sample near the change between the old level (0) and the new level (1).
	way := slices.Clone(s.Values[first : u.first+(end-unitAfter+1)*u.per])
	old := median(u.logs[split-unitAfter : split])
	for i, v := range way {
		way[i] = (math.Log(v) - old) / math.Log(factor)
	}
	at, strays := splitOf(way)
	from, to := at, at
	for from > 0 && !(way[from-1] < mixedShare) { // True for NaN.
		from--
	}
	for to < len(way) && !(way[to] > 1-mixedShare) {
		to++
	}
	change = UnitChange{From: s.TimeAt(first + from), To: s.TimeAt(first + to), Factor: factor}
	return change, float64(strays) <= maxStrays*float64(len(known(way))) && to-from <= unitGap*u.per
}

// splitOf returns the index that best separates numbers below 1/2 from numbers above it, and how many numbers are on the wrong side.
func splitOf(way []float64) (at, fewest int) {
	strays := 0
	for _, v := range way {
		if v < 0.5 {
			strays++
		}
	}
	fewest = strays
	for i, v := range way {
		switch {
		case v < 0.5:
			strays--
		case v >= 0.5:
			strays++
		}
		if strays < fewest {
			at, fewest = i+1, strays
		}
	}
	return at, fewest
}

// apply converts the means before a change, and removes the means in neither unit.
func (u *unitSearch) apply(s forecast.Series, c UnitChange) {
	for i := range u.logs {
		switch begin, end := s.TimeAt(u.first+i*u.per), s.TimeAt(u.first+(i+1)*u.per); {
		case !end.After(c.From):
			u.logs[i] += math.Log(c.Factor)
		case begin.Before(c.To):
			u.logs[i] = math.NaN()
		}
	}
}

func distances(values []float64, from float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Abs(v - from)
	}
	return out
}

// known returns the values without gaps.
func known(values []float64) []float64 { return slices.DeleteFunc(slices.Clone(values), math.IsNaN) }

// median returns the median of the known values; NaN if there are none.
func median(values []float64) float64 {
	sorted := known(values)
	if len(sorted) == 0 {
		return math.NaN()
	}
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
