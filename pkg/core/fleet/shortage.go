package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

const (
	dayHours = 24
	week     = 7 * 24 * time.Hour
	// maxLevel bounds how much higher than in the weeks before the last day may count, and its inverse how much lower.
	maxLevel = 2.0
)

// Day is a day ahead, in hours of UTC. It is finite for any input.
//
// A member's hour is expected to be as the mean of the same hour in the last two weeks, as far as they are known, times the level of the
// fleet: how much more its members needed in the last day than in the same hours of these weeks. An hour in which an announced event takes
// place, and an hour without a week of history, are as in the member's own forecast of its next day. For example, a member needed 30 and 34
// GPUs at 09:00 on the last two Mondays, and the fleet needed 10 % more in the last day than in the same hours of these weeks. The member
// is expected to need 33.6 on Monday at 09:00: 32 × (1 + 0.1/2).
type Day struct {
	// Hours are the beginnings of the 24 hours, oldest first. The first is the present hour.
	Hours []time.Time
	// GPUs are what the members may use: the fleet's without those that other pods hold.
	GPUs float64
	// Members are in the order of the fleet.
	Members []DayOfMember
	// Total are the GPUs that all members need together. Nothing is added to them: on recorded weeks, they have about one false alarm a week
	// (docs/benchmarks.md).
	Total []float64
}

// DayOfMember is the day ahead of a member.
type DayOfMember struct {
	// Name of the Forecast.
	Name string
	// GPUs are what its demand is expected to need in the mean of each hour, within the limits of its autoscalers.
	GPUs []float64
	// Unknown: in some hours, there is neither history nor a forecast. What the member holds now counts there.
	Unknown bool
}

// Shortage is a time of the next day in which the members will need more GPUs than there are.
type Shortage struct {
	// From and Until are full hours, in UTC.
	From, Until time.Time
	// Need are the most GPUs that the members need in an hour, rounded up. GPUs are what they may use.
	Need, GPUs float64
	// Members are what each needs in the hour with the highest need, largest first, without members that need nothing.
	Members []Contribution
}

// Contribution is what a member needs.
type Contribution struct {
	// Name of the Forecast.
	Name string
	GPUs float64
}

// Day returns the day ahead of a fleet. Members that are not valid (GPUs, Target) count with what they hold now.
func (f *Fleet) Day(now time.Time) Day {
	begin := now.UTC().Truncate(time.Hour)
	out := Day{GPUs: f.available(), Total: make([]float64, dayHours)}
	level := f.level(begin)
	for i := range dayHours {
		out.Hours = append(out.Hours, begin.Add(time.Duration(i)*time.Hour))
	}
	for _, m := range f.Members {
		m.GPUs = bounded(m.GPUs)
		day := DayOfMember{Name: m.Name}
		for i, hour := range out.Hours {
			gpus := m.expected(hour, level)
			if math.IsNaN(gpus) {
				gpus, day.Unknown = m.now(), true
			}
			day.GPUs = append(day.GPUs, gpus)
			out.Total[i] += gpus
		}
		out.Members = append(out.Members, day)
	}
	return out
}

// level returns how much more the members are expected to need than in the same hours of the two weeks before: a part of the difference in
// the last day.
func (f *Fleet) level(begin time.Time) float64 {
	needed, before := 0.0, 0.0
	for _, m := range f.Members {
		m.GPUs = bounded(m.GPUs)
		for hour := begin.Add(-dayHours * time.Hour); hour.Before(begin); hour = hour.Add(time.Hour) {
			if now, usual := m.mean(m.Hours, hour), m.usual(hour); !math.IsNaN(now + usual) {
				needed, before = needed+now, before+usual
			}
		}
	}
	if !(before > 0) {
		return 1
	}
	return 1 + persistence*(math.Min(math.Max(needed/before, 1/maxLevel), maxLevel)-1)
}

// expected returns the GPUs that the member will need in an hour; NaN if that is unknown.
func (m *Member) expected(hour time.Time, level float64) float64 {
	gpus, replicas, announced := m.usual(hour)*level, 0, false
	for i := range m.Events {
		if e := &m.Events[i]; e.Start.Before(hour.Add(time.Hour)) && e.End.After(hour) {
			replicas, announced = max(replicas, int(e.Replicas)), true
		}
	}
	if announced || math.IsNaN(gpus) {
		next := m.mean(m.NextDay, hour)
		if math.IsNaN(next) { // The forecast is computed every few hours. Beyond its end, the day repeats.
			next = m.mean(m.NextDay, hour.Add(-dayHours*time.Hour))
		}
		if !math.IsNaN(next) {
			gpus = next
		}
	}
	return math.Min(math.Max(gpus, m.limited(float64(replicas))), m.most())
}

// usual returns the mean of what the member needed in the same hour of the last two weeks, as far as it is known; NaN if it is not.
func (m *Member) usual(hour time.Time) float64 {
	sum, known := 0.0, 0.0
	for _, ago := range [...]time.Duration{week, 2 * week} {
		if v := m.mean(m.Hours, hour.Add(-ago)); !math.IsNaN(v) {
			sum, known = sum+v, known+1
		}
	}
	return sum / known
}

// mean returns the GPUs for the mean demand of an hour; NaN if it is not known.
func (m *Member) mean(s forecast.Series, hour time.Time) float64 {
	since := hour.Add(time.Hour / 2).Sub(s.Start)
	if !m.valid() || s.Step <= 0 || since < 0 || since/s.Step >= time.Duration(s.Len()) {
		return math.NaN()
	}
	if v := s.Values[since/s.Step]; v >= 0 && v <= maxDemand {
		return m.limited(v / m.Target)
	}
	return math.NaN()
}

// Shortage returns the time with the highest need among those in which the members need more GPUs than there are; nil if there is none.
func (d *Day) Shortage() *Shortage {
	if len(d.Total) == 0 {
		return nil
	}
	at := slices.Index(d.Total, slices.Max(d.Total))
	if !d.short(at) {
		return nil
	}
	first, last := at, at
	for d.short(first - 1) {
		first--
	}
	for d.short(last + 1) {
		last++
	}
	out := &Shortage{
		From: d.Hours[first], Until: d.Hours[last].Add(time.Hour), Need: math.Ceil(d.Total[at] - grain), GPUs: d.GPUs,
	}
	for i := range d.Members {
		if gpus := d.Members[i].GPUs[at]; gpus > 0 {
			out.Members = append(out.Members, Contribution{d.Members[i].Name, gpus})
		}
	}
	slices.SortStableFunc(out.Members, func(a, b Contribution) int { return cmp.Compare(b.GPUs, a.GPUs) })
	return out
}

// short reports whether there is an hour i in which GPUs are missing.
func (d *Day) short(i int) bool { return i >= 0 && i < len(d.Total) && d.Total[i] > d.GPUs+grain }
