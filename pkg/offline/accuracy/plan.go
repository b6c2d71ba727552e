package accuracy

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const (
	// If the history has at least minDays, trainDays and a step come before the first origin: two days and a step to fit, and one day to
	// calibrate.
	trainDays, minDays = 3, 4.05
	// maxOrigins limits the work. A longer or finer history is judged only at every n-th step.
	maxOrigins = 20_000
	// minStep is the shortest step that a Forecast may have. It limits the memory.
	minStep = time.Second
	// minScores is a little more than the number of windows that a calibration needs.
	minScores = 80
)

// plan says what is judged. Lengths are in steps of the series.
type plan struct {
	series forecast.Series
	// horizons are in ascending order and contain lead.
	horizons []int
	lead     int
	// season is a day; 0 if a day is not a whole number of at least two steps.
	season int
	// first is the first origin, and stride is the distance between two origins.
	first, stride int
	notes         []string
}

func newPlan(c Config) (plan, error) {
	p := plan{series: c.Series}
	step, n, write := c.Series.Step, c.Series.Len(), humanize.Span
	if step < minStep || step > windowpeak.Day || c.Lead <= 0 {
		return p, fmt.Errorf("%w: a lead time of %s in steps of %s; expected a lead time above 0 and steps of %s to %s",
			forecast.ErrParameter, c.Lead, step, minStep, windowpeak.Day)
	}
	if p.lead = int(c.Lead / step); c.Lead%step != 0 {
		p.lead++
	}
	if p.lead > n || n < 2*stepsBefore(p.lead) {
		const short = "the history is %w to judge a lead time of %s, because it has only %d steps of %s; use a longer history, " +
			"a finer step or a shorter lead time"
		return p, fmt.Errorf(short, forecast.ErrTooShort, write(c.Lead), n, write(step))
	}
	if whole := p.span(p.lead); whole != c.Lead {
		p.note("The lead time of %s is rounded up to %s, a whole number of steps.", write(c.Lead), write(whole))
	}
	p.setHorizons()
	days := math.Inf(1) // Without a daily pattern, the history is always long enough.
	if windowpeak.Day%step != 0 || windowpeak.Day == step {
		p.note("Steps of %s do not divide a day into equal parts, so the models %s and %s, which repeat the previous "+
			"day, are left out.",
			write(step), windowpeak.HoltWinters, windowpeak.LastSeason)
	} else {
		p.season = int(windowpeak.Day / step)
		days = float64(n) / float64(p.season)
	}
	if days < 2 { //nolint:mnd // Less than twice is not again.
		p.note("The history is shorter than two days, so no model can learn a daily pattern.")
	} else if days < minDays {
		p.note(
			"The history has %.2g days, and the models learn from half of them. Models that repeat the previous day need five days.",
			days,
		)
	}
	farthest := p.horizons[len(p.horizons)-1]
	p.first = max(n/4, stepsBefore(farthest), trainDays*p.season+1)
	if days < minDays {
		p.first = n / 2 //nolint:mnd // As much to learn from as to judge.
	}
	if p.stride = (n-p.first)/maxOrigins + 1; p.stride > 1 {
		p.note("One forecast is judged every %s.", humanize.Span(p.span(p.stride)))
	}
	return p, nil
}

// stepsBefore returns how many steps the first fit needs to forecast the given number of steps ahead. It is calibrated on the windows in
// the second half of them.
func stepsBefore(ahead int) int { return minScores + 2*ahead }

// setHorizons sets the lead time and those usual horizons that are a whole number of steps and for which the history is long enough.
func (p *plan) setHorizons() {
	var usual []int
	const minute = time.Minute
	for _, d := range []time.Duration{2 * minute, 5 * minute, 10 * minute, 30 * minute} {
		if d%p.series.Step == 0 {
			usual = append(usual, int(d/p.series.Step))
		}
	}
	if len(usual) < 2 {
		usual = []int{1, 2, 4}
	}
	p.horizons = []int{p.lead}
	for _, h := range usual {
		if p.series.Len() < 2*stepsBefore(h) {
			p.note("The history is too short to judge forecasts %s ahead.", humanize.Span(p.span(h)))
			continue
		}
		p.horizons = append(p.horizons, h)
	}
	slices.Sort(p.horizons)
	p.horizons = slices.Compact(p.horizons)
}

// models returns the models that are judged, with the baselines last.
func (p *plan) models() []string {
	all := append([]string{Forewarm, windowpeak.HoltWinters, windowpeak.ARIMA, windowpeak.Auto}, baselines()...)
	return slices.DeleteFunc(all, func(name string) bool {
		return p.season == 0 && (name == windowpeak.HoltWinters || name == windowpeak.LastSeason)
	})
}

// baselines returns the models that need no fit.
func baselines() []string {
	return []string{windowpeak.LastValue, windowpeak.LastSeason, windowpeak.RunningMax}
}

func (p *plan) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// span converts a number of steps to a duration.
func (p *plan) span(steps int) time.Duration { return time.Duration(steps) * p.series.Step }

// origin returns the time of the i-th origin, at which the first step of its forecasts begins.
func (p *plan) origin(i int) time.Time { return p.series.TimeAt(p.first + i*p.stride) }
