package main

import (
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/tracegen/servegen"
)

// step is the distance between two values of a trace.
const step = time.Minute

// shape has the parameters of a trace. Levels are shares of the base.
type shape struct {
	// Seed of the single random stream.
	Seed uint64
	// Start of the trace and its length.
	Start  time.Time
	Length time.Duration
	// Base is the demand of an ordinary minute at the mean hour of a weekday.
	Base float64
	// Day is the amplitude of the daily cycle in the logarithm; the peak is in the afternoon, with a shoulder in the
	// morning.
	Day float64
	// Weekend is the level of Saturday and Sunday.
	Weekend float64
	// Wander is the standard deviation, in the logarithm, of the wandering level; Memory is its time constant.
	Wander float64
	Memory time.Duration
	// From 9 to 18 o'clock on weekdays the level is multiplied by Open, 0 for none: users who come to work. It rises within
	// twice OpenFade, and falls within eight times that. OpenJitter is the standard deviation of the time at which it rises, from
	// day to day, and OpenLevel that of Open, in the logarithm.
	Open                 float64
	OpenFade, OpenJitter time.Duration
	OpenLevel            float64
	// BurstsPerDay is the mean number of random bursts; each rises within minutes to at most BurstHeight and fades over
	// about a quarter of an hour.
	BurstsPerDay, BurstHeight float64
	// From ShiftAt on the level is multiplied by Shift.
	ShiftAt time.Duration
	Shift   float64
	// From OutageAt on nothing is observed for Outage.
	OutageAt, Outage time.Duration
	// Observe turns the level of a minute into its observed value.
	Observe func(level float64, source rand.Source) float64
}

// series returns the trace of a recipe.
func (r *recipe) series() (forecast.Series, error) {
	if r.drawn == 0 {
		return generate(r.shape), nil
	}
	all, err := servegen.Recorded()
	return draw(r.shape.Start, r.drawn, all), err
}

// draw draws the number of requests in each minute from the rate and the dispersion of the ten minutes that contain it.
func draw(start time.Time, seed uint64, all []servegen.Window) forecast.Series {
	source := rand.NewPCG(seed, seed)
	out := forecast.Series{Start: start, Step: step}
	for _, w := range all {
		observe := counts(w.Dispersion)
		for range servegen.Step / step {
			out.Values = append(out.Values, observe(w.Rate*step.Seconds(), source))
		}
	}
	return out
}

// generate generates the trace for a shape.
func generate(s shape) forecast.Series {
	source := rand.NewPCG(s.Seed, s.Seed)
	n := int(s.Length / step)
	values := make([]float64, n)
	wander := s.wander(n, rand.New(source))
	bursts := s.bursts(n, rand.New(source))
	days := s.days(rand.New(source))
	for i := range values {
		at := time.Duration(i) * step
		level := s.Base * s.season(s.Start.Add(at), days[at/day]) * math.Exp(wander[i]) * (1 + bursts[i])
		if at >= s.ShiftAt {
			level *= s.Shift
		}
		values[i] = s.Observe(level, source)
		if at >= s.OutageAt && at < s.OutageAt+s.Outage {
			values[i] = math.NaN()
		}
	}
	return forecast.Series{Start: s.Start, Step: step, Values: values}
}

// openDay says when a day opens (an hour of the day), and to which factor.
type openDay struct{ hour, factor float64 }

// days returns the opening of all days.
func (s shape) days(random *rand.Rand) []openDay {
	out := make([]openDay, s.Length/day)
	if s.Open == 0 {
		return out
	}
	for i := range out {
		out[i] = openDay{
			9 + s.OpenJitter.Hours()*random.NormFloat64(), s.Open * math.Exp(s.OpenLevel*random.NormFloat64()),
		}
	}
	return out
}

// season returns the factor for the hour of the day and the day of the week. Weekends fade in and out during their first and last hours.
func (s shape) season(at time.Time, opens openDay) float64 {
	hour := at.Sub(at.Truncate(24 * time.Hour)).Hours()
	daily := math.Cos((hour-15)/24*2*math.Pi) + 0.35*math.Cos((hour-10)/12*2*math.Pi)
	return math.Exp(s.Day*daily) * (1 - (1-s.Weekend)*weekend(at)) * (1 + (s.open(hour, opens)-1)*(1-weekend(at)))
}

// open returns the factor for the opening hours.
func (s shape) open(hour float64, opens openDay) float64 {
	if s.Open == 0 {
		return 1
	}
	const closes, slower = 18, 4
	fade := s.OpenFade.Hours()
	return 1 + max(opens.factor-1, 0)*(ramp((hour-opens.hour-fade)/fade)-ramp((hour-closes)/(slower*fade)))
}

// weekend returns 1 on Saturday and Sunday, 0 on weekdays, and a value in between for some hours around the midnights.
func weekend(at time.Time) float64 {
	const fade = 3.0 // Hours on either side of midnight.
	// The zero time was a Monday, so truncated weeks begin on Monday.
	hours := at.Sub(at.Truncate(7 * 24 * time.Hour)).Hours()
	intoSaturday, intoMonday, outOfSunday := (hours-5*24)/fade, hours/fade, (hours-7*24)/fade
	return 1 - ramp(intoMonday) + ramp(intoSaturday) - ramp(outOfSunday)
}

// ramp rises from 0 at −1 to 1 at 1.
func ramp(x float64) float64 { return min(1, max(0, (x+1)/2)) }

// wander returns an Ornstein-Uhlenbeck process for every minute. It is stationary from the first minute on.
func (s shape) wander(n int, random *rand.Rand) []float64 {
	keep := math.Exp(-step.Minutes() / s.Memory.Minutes())
	kick := s.Wander * math.Sqrt(1-keep*keep)
	out := make([]float64, n)
	level := s.Wander * random.NormFloat64()
	for i := range out {
		out[i] = level
		level = keep*level + kick*random.NormFloat64()
	}
	return out
}

// bursts returns what bursts add to each minute, as a share of the level.
func (s shape) bursts(n int, random *rand.Rand) []float64 {
	out := make([]float64, n)
	chance := s.BurstsPerDay * step.Hours() / 24
	for start := range out {
		if random.Float64() >= chance {
			continue
		}
		height := s.BurstHeight * (0.3 + 0.7*random.Float64())
		addBurst(out[start:], height, 1+3*random.Float64(), 6+14*random.Float64())
	}
	return out
}

// addBurst adds a burst that begins at the first minute. Rise and fade are time constants in minutes.
func addBurst(out []float64, height, rise, fade float64) {
	for i := range out[:min(len(out), 120)] {
		minutes := float64(i)
		out[i] += height * (1 - math.Exp(-minutes/rise)) * math.Exp(-minutes/fade)
	}
}

// counts converts a level to the number of events in a minute, whose variance is dispersion times its mean. With a dispersion of 1 it is a
// Poisson process. Above 1 it is a negative binomial distribution (a Poisson process with a Gamma-distributed rate).
func counts(dispersion float64) func(float64, rand.Source) float64 {
	return func(level float64, source rand.Source) float64 {
		if level > 0 && dispersion > 1 {
			level = distuv.Gamma{Alpha: level / (dispersion - 1), Beta: 1 / (dispersion - 1), Src: source}.Rand()
		}
		if level <= 0 {
			return 0
		}
		return distuv.Poisson{Lambda: level, Src: source}.Rand()
	}
}

// busy converts a level of offered work, in devices, to the mean number of busy devices. It is close to the level while the level is small,
// never above devices, and has a relative error of noise.
func busy(devices, noise float64) func(float64, rand.Source) float64 {
	return func(level float64, source rand.Source) float64 {
		seen := level * (1 + noise*rand.New(source).NormFloat64())
		// The smooth minimum of the level and the devices: x/(1 + x⁴)^¼ for x = level/devices.
		x := max(seen, 0) / devices
		return devices * x / math.Pow(1+x*x*x*x, 0.25)
	}
}
