package ticks

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/figures"
)

// Tick is a mark on an axis.
type Tick struct {
	Value float64
	Label string
}

// spacings are those that a clock and a calendar have.
var spacings = []time.Duration{ //nolint:gochecknoglobals // A constant table.
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 5 * day, 10 * day, 30 * day, 90 * day, 365 * day,
}

const day = 24 * time.Hour

// Clock marks round times of day, UTC, on an axis that counts seconds from a time. They are at most nine; midnight
// carries the date.
func Clock(zero time.Time, from, to float64) []Tick {
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

// Round marks multiples of 1, 2 or 5 times a power of ten: four to eight of them.
func Round(from, to float64) []Tick {
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
		out = append(out, Tick{Value: i * spacing, Label: figures.Short(i * spacing)})
	}
	return out
}

// Shares marks a logarithmic axis of shares in hundredths: 0.01%, 0.1%, 1%, and where it spans less than three decades
// 0.1%, 0.2%, 0.5%, 1%. From and to are more than 0.
func Shares(from, to float64) []Tick {
	// A power that the logarithm misses by a rounding is still on the axis.
	const slack = 1e-9
	multiples := []float64{1}
	if to/from < 999 {
		multiples = []float64{1, 2, 5}
	}
	var out []Tick
	for i := math.Floor(math.Log10(from)); i <= math.Log10(to)+slack; i++ {
		// As quotients of whole numbers, these are the powers themselves and not their neighbours.
		power := math.Pow(10, i)
		if i < 0 {
			power = 1 / math.Pow(10, -i)
		}
		for _, m := range multiples {
			if v := m * power; v >= from*(1-slack) && v <= to*(1+slack) {
				out = append(out, Tick{Value: v, Label: figures.Number(100*v) + "%"})
			}
		}
	}
	return out
}
