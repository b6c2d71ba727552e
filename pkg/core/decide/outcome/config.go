package outcome

import (
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Config says whose forecasts are tried on which autoscalers.
type Config struct {
	// Step of the demand, and Start the time of the first one.
	Step  time.Duration
	Start time.Time
	// Window is the lead window in steps.
	Window int
	// Contenders are candidates by name: the first serves until another one has proved that it costs less.
	Contenders []string
	// Lead time; what is served is held for half of it.
	Lead time.Duration
	// Asked is what is asked for: one answer for each, the first being what is served in earnest.
	Asked []Asked
	// Margins are what was late on other workloads.
	Margins margin.Priors
	// Autoscalers that read the value: at least one, but where all that is asked for are fixed multiples.
	Autoscalers []Autoscaler
	// Named are candidates that autoscalers ask for by name: each is tried on these alone, and takes no part in the choice.
	Named []Named
}

// Named is a candidate, and the autoscalers that ask for it.
type Named struct {
	Candidate   string
	Autoscalers []Autoscaler
}

// Asked is an objective, a price or a multiple.
type Asked struct {
	// Late is the objective, a share between 0 and 1.
	Late float64
	// Price of a replica's worth of demand that is late, in idle replicas, instead of an objective; 0 for none.
	Price float64
	// Fixed is a multiple of the first contender's spread to serve in any case; 0 leaves it to the outcome.
	Fixed float64
}

// Autoscaler is what the shadows are like.
type Autoscaler struct {
	// By names it, see decide.Scaling.
	By   string
	Spec hpasim.Spec
}

// fixed says that nothing is left to the outcome.
func (c Config) fixed() bool {
	for _, a := range c.Asked {
		if a.Fixed == 0 {
			return false
		}
	}
	return true
}

func (c Config) validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf("outcome: "+format, args...)) }
	for _, a := range c.Asked {
		if a.Fixed == 0 && !(a.Late > 0 && a.Late < 1) && !(a.Price > 0) {
			wrong("an objective of %v, want a share between 0 and 1", a.Late)
		}
	}
	if len(c.Asked) == 0 || len(c.Contenders) == 0 {
		wrong("%d contenders and %d objectives, want one at least", len(c.Contenders), len(c.Asked))
	}
	if !c.fixed() && len(c.Autoscalers) == 0 {
		wrong("no autoscaler, want one at least")
	}
	return errors.Join(problems...)
}

// Contenders are the candidates that are tried where none are named: those that took part in the study.
func Contenders() []string {
	return []string{
		windowpeak.Regression, windowpeak.LastValue, windowpeak.LastSeason, windowpeak.ARIMA, windowpeak.HoltWinters,
	}
}
