package chart

import (
	"math"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Axis is the horizontal or vertical range of a drawing.
type Axis struct {
	From, To float64
	Ticks    []Tick
	// Label of the axis.
	Label string
	// logarithmic is true for an axis of shares.
	logarithmic bool
}

// NumberAxis returns an axis of numbers.
func NumberAxis(from, to float64) Axis { return Axis{From: from, To: to, Ticks: RoundTicks(from, to)} }

// TimeAxis returns an axis of seconds from a time, labelled with the time of day, UTC.
func TimeAxis(zero time.Time, from, to float64) Axis {
	return Axis{From: from, To: to, Ticks: ClockTicks(zero, from, to)}
}

// LatenessAxis returns a logarithmic axis of shares. Shares below from, 0 among them, have a place of their own at the
// left end.
func LatenessAxis(from, to float64) Axis {
	all := append([]Tick{{Value: 0, Label: "0"}}, ShareTicks(from, to)...)
	return Axis{From: from, To: to, Ticks: all, logarithmic: true}
}

// At returns the position of a value, from 0 at the start of the axis to 1.
func (a Axis) At(v float64) float64 {
	// none is the part of a logarithmic axis for shares below its least.
	const none = 0.1
	switch {
	case !a.logarithmic:
		return (v - a.From) / (a.To - a.From)
	case !(v >= a.From):
		return none / 4
	}
	return none + (1-none)*math.Log(min(v, a.To)/a.From)/math.Log(a.To/a.From)
}

// Tick is a mark on an axis.
type Tick struct {
	Value float64
	Label string
}

// spacings are those of clocks and calendars.
var spacings = []time.Duration{ //nolint:gochecknoglobals // A constant table.
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 5 * day, 10 * day, 30 * day, 90 * day, 365 * day,
}

const day = 24 * time.Hour

// ClockTicks returns round times of day, UTC, at most nine, on an axis of seconds from a time. Midnight has the date.
func ClockTicks(zero time.Time, from, to float64) []Tick {
	const most = 9
	spacing := spacings[len(spacings)-1]
	for _, s := range spacings {
		if (to-from)/s.Seconds() <= most {
			spacing = s
			break
		}
	}
	var out []Tick
	end := zero.Add(time.Duration(to * float64(time.Second)))
	at := zero.Add(time.Duration(from * float64(time.Second))).UTC().Truncate(spacing).Add(spacing)
	for ; !at.After(end) && len(out) <= most; at = at.Add(spacing) {
		label := at.Format("15:04")
		if at.Hour() == 0 && at.Minute() == 0 {
			label = at.Format("2 Jan")
		}
		out = append(out, Tick{Value: at.Sub(zero).Seconds(), Label: label})
	}
	return out
}

// RoundTicks returns multiples of 1, 2 or 5 times a power of ten: four to eight of them.
func RoundTicks(from, to float64) []Tick {
	rough := (to - from) / 6
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	spacing := 10 * power
	for _, multiple := range []float64{1, 2, 5} {
		if rough <= multiple*power {
			spacing = multiple * power
			break
		}
	}
	if !(spacing > 0) || math.IsInf(spacing, 0) {
		return nil
	}
	var out []Tick
	for i := math.Ceil(from / spacing); i*spacing <= to && len(out) < 16; i++ {
		out = append(out, Tick{Value: i * spacing, Label: humanize.Abbreviated(i * spacing)})
	}
	return out
}

// ShareTicks returns ticks of a logarithmic axis of shares in percent: 0.01%, 0.1%, 1%, and within less than three
// decades 0.1%, 0.2%, 0.5%, 1%. From and to are more than 0.
func ShareTicks(from, to float64) []Tick {
	// A power that is off by a rounding error of the logarithm is still on the axis.
	const slack = 1e-9
	multiples := []float64{1}
	if to/from < 999 {
		multiples = []float64{1, 2, 5}
	}
	var out []Tick
	for i := math.Floor(math.Log10(from)); i <= math.Log10(to)+slack; i++ {
		// A quotient of whole numbers is exactly the power.
		power := math.Pow(10, i)
		if i < 0 {
			power = 1 / math.Pow(10, -i)
		}
		for _, m := range multiples {
			if v := m * power; v >= from*(1-slack) && v <= to*(1+slack) {
				out = append(out, Tick{Value: v, Label: humanize.Number(100*v) + "%"})
			}
		}
	}
	return out
}

// date reports whether a tick of a time axis is a midnight.
func (t Tick) date() bool { return !strings.Contains(t.Label, ":") }
