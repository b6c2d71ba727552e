package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const (
	// trainSeasons, and a step, come before the first origin where the history is long enough: two and a step to fit on,
	// one to calibrate on. It is where it has leastSeasons.
	trainSeasons, leastSeasons = 3, 4.05
	// mostOrigins bounds the work: a finer history is asked every so many steps.
	mostOrigins = 20_000
	// leastScores are the windows that a calibration wants to have seen, and some.
	leastScores = 80
)

// plan is what is backtested. Lengths are in steps of the series.
type plan struct {
	series forecast.Series
	// horizons ascend, and lead is one of them.
	horizons []int
	lead     int
	// cycle is the season; season is 0 where it is no whole number of steps, two or more.
	cycle  time.Duration
	season int
	// first is the first origin, stride the distance between two.
	first, stride int
	// notes are sentences about what the history does not allow.
	notes []string
}

// plan fits the options to the history.
func (o *backtestOptions) plan(h history.History) (plan, error) {
	p := plan{series: h.Series, cycle: time.Duration(o.season), notes: slices.Clone(h.Notes)}
	p.lead = p.steps(time.Duration(o.lead))
	if err := o.setHorizons(&p); err != nil {
		return plan{}, err
	}
	n, farthest := h.Len(), p.horizons[len(p.horizons)-1]
	if least := 2 * stepsBefore(farthest); n < least {
		return plan{}, fmt.Errorf("the history has %d steps of %s, want %d to judge %s ahead: use a longer history, a "+
			"finer step, or a shorter --horizon and --lead-time", n, history.FormatSpan(p.series.Step), least,
			history.FormatSpan(p.span(farthest)))
	}
	p.setSeason()
	p.first = max(n/4, stepsBefore(farthest))
	if p.seasons() >= leastSeasons {
		p.first = max(p.first, trainSeasons*p.season+1)
	} else {
		p.first = n / 2 //nolint:mnd // As much to learn from as to judge.
	}
	p.stride = (n-p.first)/mostOrigins + 1
	if p.stride > 1 {
		p.note("forecasts are judged every %s", history.FormatSpan(p.span(p.stride)))
	}
	return p, nil
}

// stepsBefore is how many steps the first fit wants before it can say anything of so many ahead: it is calibrated on the
// windows in the second half of them.
func stepsBefore(ahead int) int { return leastScores + 2*ahead }

// setSeason says what of the season the history can show.
func (p *plan) setSeason() {
	if p.cycle%p.series.Step != 0 || p.cycle < 2*p.series.Step {
		p.note("a season of %s is not a whole number of steps of %s: models use no season",
			history.FormatSpan(p.cycle), history.FormatSpan(p.series.Step))
		return
	}
	p.season = int(p.cycle / p.series.Step)
	switch {
	case p.seasons() < 2: //nolint:mnd // Less than twice is not again.
		p.note(
			"the history is shorter than two seasons of %s, so no season can be learnt: use a longer history, or set "+
				"--season", history.FormatSpan(p.cycle),
		)
	case p.seasons() < leastSeasons:
		p.note("the history has %.2g seasons of %s, half of them for fitting: seasonal models need 5 or more",
			p.seasons(), history.FormatSpan(p.cycle))
	}
}

func (p *plan) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// seasons is how many the history has; without a season that is always enough.
func (p *plan) seasons() float64 {
	if p.season == 0 {
		return math.Inf(1)
	}
	return float64(p.series.Len()) / float64(p.season)
}

// setHorizons are those that were named, or the usual ones that are a whole number of steps; the lead time is one, too.
func (o *backtestOptions) setHorizons(p *plan) error {
	wanted, err := o.parseHorizons()
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		wanted = p.usualHorizons()
	}
	step := p.series.Step
	var problems []error
	for _, d := range wanted {
		if d%step != 0 {
			problems = append(problems,
				fmt.Errorf("--horizon %s is not a whole number of steps of the history (%s)", d, step))
			continue
		}
		p.horizons = append(p.horizons, int(d/step))
	}
	p.horizons = append(p.horizons, p.lead)
	slices.Sort(p.horizons)
	p.horizons = slices.Compact(p.horizons)
	if d := time.Duration(o.lead); d%step != 0 {
		lead := history.FormatSpan(p.span(p.lead))
		p.note("the lead time of %s is judged as %s, a whole number of steps", history.FormatSpan(d), lead)
	}
	return errors.Join(problems...)
}

// usualHorizons are those that are a whole number of steps and that the history is long enough for.
func (p *plan) usualHorizons() []time.Duration {
	const minute = time.Minute
	step := p.series.Step
	out := slices.DeleteFunc([]time.Duration{2 * minute, 5 * minute, 10 * minute, 30 * minute},
		func(d time.Duration) bool { return d < step || d%step != 0 })
	if len(out) < 2 {
		out = []time.Duration{step, 2 * step, 4 * step}
	}
	return slices.DeleteFunc(out, func(d time.Duration) bool {
		far := 2*stepsBefore(int(d/step)) > p.series.Len()
		if far {
			p.note("the history is too short to judge %s ahead", history.FormatSpan(d))
		}
		return far
	})
}

// steps is a time in steps, rounded up.
func (p *plan) steps(d time.Duration) int { return int((d + p.series.Step - 1) / p.series.Step) }

// span is a number of steps in time.
func (p *plan) span(steps int) time.Duration { return time.Duration(steps) * p.series.Step }

// config is the server's for such a Forecast.
func (p *plan) config() forecaster.Config {
	return forecaster.Config{
		Step: p.series.Step, Window: p.span(p.lead), Seasons: []time.Duration{p.cycle},
	}
}

// periods are the season and, of days, the week, where the first fit sees it twice.
func (p *plan) periods() []int {
	const daysOfWeek = 7
	out := []int{p.season}
	if week := daysOfWeek * p.season; p.cycle == windowpeak.Day && p.first >= 2*week {
		out = append(out, week)
	}
	return out
}

// mostStretches are played one after the other, so that an interruption finds something to tell.
const mostStretches = 40

// stretches are the first origins of each, and the end of the last one.
func (p *plan) stretches() []int {
	end := p.series.Len() - p.horizons[len(p.horizons)-1] + 1
	length := max((end-p.first)/mostStretches/p.stride, 1) * p.stride
	var out []int
	for origin := p.first; origin < end; origin += length {
		out = append(out, origin)
	}
	return append(out, end)
}
