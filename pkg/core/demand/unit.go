package demand

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// UnitChange is a time from which a series has another unit: minutes became seconds, bytes became megabytes.
type UnitChange struct {
	// From is the end of the last sample in the old unit, To the time of the first one in the new unit. Samples between them are in
	// neither: pods change one after the other, and a rate mixes both.
	From, To time.Time
	// Factor converts the old unit into the new one: 1/60 after a change from minutes to seconds.
	Factor float64
}

const (
	// UnitBlock is how often a series is searched for a change of its unit, and the length of the means that are compared. A longer
	// step takes its place.
	UnitBlock = 5 * time.Minute
	// A change is recognized by unitBlocks means after it and as many before it, with unitGap means between them.
	unitBlocks, unitGap = 8, 2
	unitBefore = 24
	mixedPlace, mostStrays = 0.25, 0.15
	// minUnitPairs of the means on each side must be known, and known a season before.
	minUnitPairs = 6
	// unitTolerance is how far the measured factor may be from a conventional one, and unitSpread how far each mean after the change may
	// be from the measured factor, both as logarithms.
	unitTolerance, unitSpread = 0.22, 1.1
	// unprecedented is by how much of the factor, as a logarithm, all means after the change are beyond what the series had before.
	unprecedented = 0.3
	// usualShare of the means before the change are what the series had before; the rest are outages and single peaks.
	usualShare = 0.95
)

// unitFactors are the conventional ratios of units: 60 seconds, percent, thousands (1,000 and 1,024), 3,600 seconds, and products of them.
// A smaller ratio, such as 8 bits or 24 hours, is a shift of level: models follow it within an hour, and a real demand shifts by as much.
func unitFactors() []float64 {
	return []float64{60, 100, 1000, 3600, 60_000, 86_400, 1e6, 3.6e6, 1e9}
}

// UnitChanges finds the lasting changes of scale that keep the shape of a series, the oldest first. One is found some 45 minutes after it,
// if the series is a season older than it. The result depends on the samples alone.
//
// What changes the unit multiplies the demand of every time of day by the same conventional factor, at once. So the means after it are
// compared with those before it, both relative to a season earlier, and they must be beyond all that the series usually had. A
// demand that often goes on and off has no such range, and a demand that really jumps by 60 and keeps its shape is best described by
// its past × 60.
func UnitChanges(s forecast.Series, season time.Duration) []UnitChange {
	if s.Step > UnitBlock {
		return nil
	}
	u := newUnits(s, season)
	var out []UnitChange
	for end := unitSpan; end <= len(u.logs); end++ {
		factor, ok := u.changeAt(end)
		if !ok {
			continue
		}
		change, ok := u.locate(s, end, factor)
		if !ok {
			continue
		}
		out = append(out, change)
		for i := range u.logs[:end-unitBlocks] {
			u.logs[i] += math.Log(factor)
		}
	}
	return out
}

// MayChangeUnit reports whether a part of a series has a jump that may be a change of its unit: where it has none, none is found in it.
func MayChangeUnit(part forecast.Series) bool {
	u := newUnits(part, 0)
	for end := unitSpan; end <= len(u.logs); end++ {
		if u.jumps(end) {
			return true
		}
	}
	return false
}

const unitSpan = 2*unitBlocks + unitGap

// units are the logarithms of a series' means, NaN where a mean is unknown or 0.
type units struct {
	logs []float64
	// first is the index of the first mean's first sample, per how many samples a mean has, lag how many means a season has: at least a
	// day's.
	first, per, lag int
}

func newUnits(s forecast.Series, season time.Duration) units {
	u := units{per: max(1, int(UnitBlock/s.Step))}
	block := time.Duration(u.per) * s.Step
	if past := s.Start.UnixNano() % int64(block); past > 0 {
		u.first = int((int64(block) - past + int64(s.Step) - 1) / int64(s.Step))
	}
	if season > 0 {
		day := 24 * time.Hour
		u.lag = int((day + season - 1) / season * season / block)
	}
	for at := u.first; at+u.per <= len(s.Values); at += u.per {
		u.logs = append(u.logs, math.Log(knownMean(s.Values[at:at+u.per])))
	}
	for i, v := range u.logs {
		if math.IsInf(v, 0) {
			u.logs[i] = math.NaN()
		}
	}
	return u
}

// knownMean is the mean of at least half of the values; NaN where fewer are known.
func knownMean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if 2*n < len(values) {
		return math.NaN()
	}
	return sum / float64(n)
}

// jumps reports whether the means before an end are far from those some time earlier.
func (u *units) jumps(end int) bool {
	after, before := u.logs[end-unitBlocks:end], u.logs[end-unitSpan:end-unitSpan+unitBlocks]
	jump := median(after) - median(before)
	return math.Abs(jump) > 0.5*math.Log(unitFactors()[0])
}

// changeAt returns the factor of a change that the means before an end show, relative to earlier seasons or else by themselves.
func (u *units) changeAt(end int) (factor float64, ok bool) {
	if !u.jumps(end) || end < 3*u.lag/2 {
		return 0, false
	}
	split := end - unitBlocks - unitGap
	after, before := u.relative(end-unitBlocks, end), u.relative(split-unitBefore, split)
	factor, ok = keepsShape(after, before)
	if !ok {
		factor, ok = keepsShape(known(u.logs[end-unitBlocks:end]), known(u.logs[split-unitBlocks:split]))
	}
	return factor, ok && u.unprecedented(end, math.Log(factor))
}

// keepsShape returns the conventional factor between some logarithms and those before them, and whether they are alike otherwise.
func keepsShape(after, before []float64) (factor float64, ok bool) {
	if len(after) < minUnitPairs || len(before) < minUnitPairs {
		return 0, false
	}
	usual := median(before)
	measured := median(after) - usual
	near, most := 0, math.Min(unitSpread, 0.25+2*median(distances(before, usual)))
	for _, d := range distances(after, usual+measured) {
		if d <= most {
			near++
		}
	}
	off := unitTolerance
	for _, f := range unitFactors() {
		if d := math.Abs(math.Abs(measured) - math.Log(f)); d <= off {
			factor, off = math.Pow(f, math.Copysign(1, measured)), d
		}
	}
	return factor, factor != 0 && near >= minUnitPairs
}

// relative are the known ones of some means, relative to the usual one at the same time of earlier seasons.
func (u *units) relative(from, to int) []float64 {
	var out []float64
	for i := max(from, u.lag); i < to; i++ {
		var seen []float64
		for k := 1; k <= 7 && i-k*u.lag >= 0; k++ {
			seen = append(seen, u.logs[i-k*u.lag])
		}
		out = append(out, u.logs[i]-median(seen))
	}
	return known(out)
}

func known(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

func distances(values []float64, from float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Abs(v - from)
	}
	return out
}

// unprecedented reports whether the means before an end are beyond what the series had before them.
func (u *units) unprecedented(end int, change float64) bool {
	sign := math.Copysign(1, change)
	var past []float64
	for _, v := range u.logs[:end-unitBlocks-unitGap] {
		if !math.IsNaN(v) {
			past = append(past, sign*v)
		}
	}
	slices.Sort(past)
	highest := past[int(usualShare*float64(len(past)-1))]
	for _, v := range u.logs[end-unitBlocks : end] {
		if sign*v-highest < unprecedented*math.Abs(change) { // NaN is not.
			return false
		}
	}
	return true
}

// locate finds the samples between both units; ok is false where they are not in the middle of a jump.
func (u *units) locate(s forecast.Series, end int, factor float64) (change UnitChange, ok bool) {
	first := u.first + (end-unitSpan+unitBlocks-1)*u.per
	near := s.Values[first : u.first+(end-unitBlocks+1)*u.per]
	// Where a sample is between the old unit, 0, and the new one, 1.
	old := median(u.logs[end-unitSpan : end-unitSpan+unitBlocks])
	place := make([]float64, len(near))
	strays, samples := 0, 0
	for i, v := range near {
		place[i] = (math.Log(v) - old) / math.Log(factor)
		if !math.IsNaN(v) {
			samples++
		}
		if place[i] < 0.5 {
			strays++
		}
	}
	split, fewest := 0, strays
	for i, p := range place {
		switch {
		case p < 0.5:
			strays--
		case p >= 0.5:
			strays++
		}
		if strays < fewest {
			split, fewest = i+1, strays
		}
	}
	from, to := split, split
	for from > 0 && !(place[from-1] < mixedPlace) {
		from--
	}
	for to < len(near) && !(place[to] > 1-mixedPlace) {
		to++
	}
	change = UnitChange{From: s.TimeAt(first + from), To: s.TimeAt(first + to), Factor: factor}
	return change, float64(fewest) <= mostStrays*float64(samples) && to-from <= unitGap*u.per
}

// median of the values that are known; NaN if none is.
func median(values []float64) float64 {
	sorted := known(values)
	if len(sorted) == 0 {
		return math.NaN()
	}
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
