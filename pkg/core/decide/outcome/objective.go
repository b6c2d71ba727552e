package outcome

import (
	"slices"

	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Objective decides how far above the median of the window peak to serve, so that no more of the demand is late than was
// asked. It is a function of what it was given: no clock.
//
// What shadows do depends on forecasts alone, and not on what is asked for: however much is asked at once, they are played
// once.
type Objective struct {
	config Config
	// candidates are the contenders, and after them those that are named.
	candidates []*candidate
	lastValue  int // index of the candidate that surges are counted by
	answers    []*answer
	accounts   *accounts // of the first answer; nil without an autoscaler
	hold       int       // inputs looked back over
	begun      bool
	// unforeseen is how many steps are left in which nothing could have been ready for a demand above its limit; skipped says
	// that the hour under way has one.
	unforeseen int
	skipped    bool
}

// answer is what follows from one thing that is asked for.
type answer struct {
	asked Asked
	gate  decide.Gate
	k     float64
}

// New has seen nothing yet.
func New(c Config) (*Objective, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	o := &Objective{
		config: c, hold: decide.Recall(c.Lead, c.Step),
		lastValue: slices.Index(c.Contenders, windowpeak.LastValue),
	}
	for i, name := range c.Contenders {
		grid := margin.Coarse()
		if i == 0 {
			grid = margin.Grid()
		}
		one, err := newCandidate(c, name, grid)
		if err != nil {
			return nil, err
		}
		o.candidates = append(o.candidates, one)
	}
	for _, n := range c.Named {
		one, err := newNamed(c, n)
		if err != nil {
			return nil, err
		}
		o.candidates = append(o.candidates, one)
	}
	for _, asked := range c.Asked {
		one := &answer{asked: asked, gate: decide.Gate{Loss: decide.Bill}, k: asked.Fixed}
		if asked.Price > 0 {
			one.gate.Loss = decide.PricedBill
		}
		o.answers = append(o.answers, one)
	}
	if c.fixed() {
		return o, nil
	}
	var err error
	o.accounts, err = newAccounts(c)
	o.choose()
	return o, err
}

// Step is what became known with a step, and what is forecast now.
type Step struct {
	// Observed is the demand as it is observed now, Arrived that which arrived in the step that has ended; NaN for gaps.
	Observed, Arrived float64
	// Limit is the most that history justifies now.
	Limit credible.Limit
	// Peaks are the forecasts of the contenders and of those named, in their order; Own says of each that it is its own.
	Peaks []windowpeak.Peak
	Own   []bool
}

// Step plays the step that has ended in all shadows, and sets what they are served in the next one. The shadows play what is
// seen: of a demand that was at least so much, what they have late is the least that was.
func (o *Objective) Step(s Step) {
	if s.Limit.Known && s.Arrived > s.Limit.Forecast {
		o.unforeseen = o.config.Window
	}
	o.play(s.Arrived)
	o.begun = true
	for i, c := range o.candidates {
		c.begun = c.begun || s.Own[i]
		c.see(decide.Input{Observed: s.Limit.Credit(s.Observed), Limit: s.Limit, Peak: s.Peaks[i]}, o.hold)
	}
	if o.accounts != nil {
		o.accounts.serve(o.Value(0), s.Observed)
	}
}

// play plays the step that has ended in all shadows, and when an hour is over learns from it. The first step has none
// before it.
func (o *Objective) play(arrived float64) {
	if o.accounts == nil || !o.begun {
		return
	}
	for _, c := range o.candidates {
		c.play(arrived)
	}
	o.accounts.play(arrived)
	o.skipped = o.skipped || o.unforeseen > 0
	o.unforeseen = max(0, o.unforeseen-1)
	if !o.accounts.anHour() {
		return
	}
	o.hour()
	o.accounts.hour()
	o.choose()
}

// hour learns from the hour that has ended. Where the demand was above all that history justified, what was late says nothing
// about multiples: none could have been ready, until a lead window after the demand was corroborated.
func (o *Objective) hour() {
	surged := make([]float64, len(o.config.Autoscalers))
	if o.lastValue >= 0 {
		surged = o.candidates[o.lastValue].surged()
	}
	for i, c := range o.candidates {
		if i == o.contenders() {
			surged = nil // Those that are named count the hours.
		}
		c.hour(surged, !o.skipped)
	}
	o.skipped = false
}

// contenders is how many of the candidates take part in the choice.
func (o *Objective) contenders() int { return len(o.config.Contenders) }

// choose chooses whose forecast is served, and with which multiple.
func (o *Objective) choose() {
	for _, a := range o.answers {
		if a.asked.Fixed == 0 {
			a.gate.Choose(a.scored(o.candidatesOf(a)))
			a.k = o.candidates[a.gate.Serving()].multiple(a.asked)
		}
	}
}

// Serving is the index of the contender whose forecast is served as the i-th answer.
func (o *Objective) Serving(i int) int { return o.answers[i].gate.Serving() }

// Inputs are those of the contender that is served as the i-th answer, newest last; they are good until the next Step.
func (o *Objective) Inputs(i int) []decide.Input { return o.candidates[o.Serving(i)].inputs }

// K is the multiple of the spread that is served as the i-th answer.
func (o *Objective) K(i int) float64 { return o.answers[i].k }

// Value is what is served as the i-th answer: never less than is observed.
func (o *Objective) Value(i int) float64 { return decide.Held(o.K(i), o.Inputs(i)) }

// Lates is, by candidate, the share of all the demand so far that was late under each multiple of its grid with the first
// autoscaler: what priors are made of.
func (o *Objective) Lates() margin.Priors {
	out := margin.Priors{}
	for _, c := range o.candidates[:o.contenders()] {
		if len(c.trials) > 0 {
			out[c.name] = c.trials[0].margin.Lates()
		}
	}
	return out
}
