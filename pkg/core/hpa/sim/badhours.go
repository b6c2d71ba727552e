package sim

import "time"

// BadShare is the share of an hour's demand that may be late before the hour is bad.
const BadShare = 0.1

// IsBadHour reports whether more than a tenth of an hour's demand was late: an hour in which users noticed.
func IsBadHour(arrived, late float64) bool { return late > BadShare*arrived }

// HourOf returns the start of the clock hour, in UTC, of a step that ends at a time.
func HourOf(end time.Time) time.Time { return end.Add(-1).Truncate(time.Hour) }

// EndsHour reports whether the step that ends at a time is the last one of its clock hour.
func EndsHour(end time.Time, step time.Duration) bool {
	return !HourOf(end.Add(step)).Equal(HourOf(end))
}

// BadHours sums the demand that arrived in bad hours. Hours are clock hours in UTC, and a step belongs to the hour in which it ends. An
// hour of which a part is missing is not judged.
type BadHours struct {
	// Arrived is the demand of the hours that were judged, and Bad the demand of the bad ones, in one unit.
	Arrived, Bad float64
	// Hours is how many were judged, and Count how many of them were bad.
	Hours, Count int
	// List has the bad hours, oldest first.
	List []BadHour

	open openHour
}

// BadHour is one bad hour.
type BadHour struct {
	// Start of the clock hour, in UTC.
	Start time.Time
	// Arrived is its demand, and Late what was late of it.
	Arrived, Late float64
}

// openHour is the hour that has not ended.
type openHour struct {
	start         time.Time
	arrived, late float64
	known         time.Duration
}

// Add adds a step that ended at a time. A step whose demand is not known is left out.
func (b *BadHours) Add(end time.Time, step time.Duration, arrived, late float64) {
	if start := HourOf(end); !start.Equal(b.open.start) {
		b.open = openHour{start: start}
	}
	b.open.arrived += arrived
	b.open.late += late
	b.open.known += step
	if !EndsHour(end, step) {
		return
	}
	if b.open.known+step > time.Hour { // All steps that end in the hour are known.
		b.Hours++
		b.Arrived += b.open.arrived
		if IsBadHour(b.open.arrived, b.open.late) {
			b.Bad += b.open.arrived
			b.Count++
			b.List = append(b.List, BadHour{b.open.start, b.open.arrived, b.open.late})
		}
	}
}

// Share is the share of the demand that arrived in bad hours; 0 without demand.
func (b *BadHours) Share() float64 {
	if !(b.Arrived > 0) {
		return 0
	}
	return b.Bad / b.Arrived
}

// Merge adds the sums of another simulation. Its bad hours are counted but not listed.
func (b *BadHours) Merge(other *BadHours) {
	b.Arrived += other.Arrived
	b.Bad += other.Bad
	b.Hours += other.Hours
	b.Count += other.Count
}
