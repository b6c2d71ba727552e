package inspect

import (
	"math"
	"time"

	"gonum.org/v1/plot"
)

// clockTicks marks round times of day, UTC. The axis counts seconds from now.
type clockTicks struct{ now time.Time }

// spacings are those that a clock has.
var spacings = []time.Duration{ //nolint:gochecknoglobals // A constant table.
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// Ticks are at most nine; midnight carries the date.
func (c clockTicks) Ticks(from, to float64) []plot.Tick {
	const most = 9
	spacing := spacings[len(spacings)-1]
	for _, s := range spacings {
		if (to-from)/s.Seconds() <= most {
			spacing = s
			break
		}
	}
	var out []plot.Tick
	end := c.now.Add(time.Duration(to * float64(time.Second)))
	at := c.now.Add(time.Duration(from * float64(time.Second))).UTC().Truncate(spacing).Add(spacing)
	for ; !at.After(end) && len(out) <= most; at = at.Add(spacing) {
		label := at.Format("15:04")
		if at.Hour() == 0 && at.Minute() == 0 {
			label = at.Format("2 Jan")
		}
		out = append(out, plot.Tick{Value: at.Sub(c.now).Seconds(), Label: label})
	}
	return out
}

// roundTicks marks multiples of 1, 2 or 5 times a power of ten.
type roundTicks struct{}

// Ticks are four to eight.
func (roundTicks) Ticks(from, to float64) []plot.Tick {
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
	var out []plot.Tick
	for i := math.Ceil(from / spacing); i*spacing <= to && len(out) < 16; i++ {
		out = append(out, plot.Tick{Value: i * spacing, Label: tickLabel(i * spacing)})
	}
	return out
}

// tickLabel shortens thousands: 250, 1.5k, 20M.
func tickLabel(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= 10*unit.size || (v >= unit.size && unit.size > 1e3) {
			scaled := v / unit.size
			return number(&scaled) + unit.name
		}
	}
	return number(&v)
}
