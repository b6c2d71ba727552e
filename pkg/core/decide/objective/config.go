package objective

import (
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Config is which candidates are simulated with which autoscalers.
type Config struct {
	// Step of the demand, and Start, the time of the first one.
	Step  time.Duration
	Start time.Time
	// Window is the lead window in steps.
	Window int
	// Candidates by name: the first is selected until another one costs less for long enough.
	Candidates []string
	// Lead time; a value is held for half of it.
	Lead time.Duration
	// Delay is how many steps after a sample the value that it leads to is served.
	Delay int
	// Period of the budget, whole hours; 0 means 7 days, or 14 where the first goal limits bad hours.
	Period time.Duration
	// Deadline of the work that may wait; 0 where there is none.
	Deadline time.Duration
	// Goals to find a headroom for; the first one's is served.
	Goals []Goal
	// Priors are the lateness on other workloads.
	Priors Priors
	// Autoscalers that read the served value: at least one.
	Autoscalers []Autoscaler
	// Baseline is how the workload was scaled before.
	Baseline decide.Baseline
	// Named are the candidates that autoscalers request by name. They take no part in the selection.
	Named []NamedCandidate
}

// NamedCandidate is a candidate and the autoscalers that request it.
type NamedCandidate struct {
	Candidate   string
	Autoscalers []Autoscaler
}

// Autoscaler is an autoscaler to simulate.
type Autoscaler struct {
	// Name as in decide.Autoscaler.
	Name string
	Spec sim.Spec
}

func (c Config) period() time.Duration {
	switch {
	case c.Period > 0:
		return c.Period
	case len(c.Goals) > 0 && c.Goals[0].BadHours:
		return badHoursPeriod
	}
	return latePeriod
}

func (c Config) validate() error {
	var problems []error
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("objective: "+format, args...))
	}
	for _, a := range c.Goals {
		if !(a.Late > 0 && a.Late < 1) && !(a.Price > 0) {
			wrong("objective %v, expected a share between 0 and 1", a.Late)
		}
	}
	if len(c.Goals) == 0 || len(c.Candidates) == 0 {
		wrong("%d candidates and %d goals, expected at least one of each", len(c.Candidates), len(c.Goals))
	}
	if c.Period < 0 || c.Period%time.Hour != 0 || c.Delay < 0 {
		wrong("budget period %s and delay %d steps, expected whole hours, and a delay of 0 or more", c.Period, c.Delay)
	}
	if len(c.Autoscalers) == 0 {
		wrong("no autoscaler, expected at least one")
	}
	return errors.Join(problems...)
}

// DefaultCandidates are the candidates that priors exist for.
func DefaultCandidates() []string {
	return []string{
		windowpeak.Regression, windowpeak.LastValue, windowpeak.LastSeason, windowpeak.LastWeek, windowpeak.ARIMA,
		windowpeak.HoltWinters,
	}
}
