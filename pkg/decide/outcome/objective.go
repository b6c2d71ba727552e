package outcome

import (
	"math"

	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/shape"
)

// Objective decides how far above the median of the window's maximum to serve, so that no more of the demand is late than
// was asked. It is a function of what it was given: no clock.
type Objective struct {
	config  Config
	learner *shape.Learner
	models  []Named   // those that are features, then those that are not
	maxima  []float64 // what they forecast
	// candidates begin with what is learnt.
	candidates []*candidate
	gate       gate
	accounts   *accounts // nil without an autoscaler
	hold       int       // inputs looked back over
	unseen     float64   // share of a rise that an autoscaler may not see
	refit      int       // steps
	steps      int
	k          float64
	// unforeseen is how many steps are left in which nothing could have been ready for a demand above its limit; skipped says
	// that the hour under way has one.
	unforeseen int
	skipped    bool
}

// New has seen nothing yet.
func New(c Config) (*Objective, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.Refit == 0 {
		c.Refit = shape.RefitEvery
	}
	models := c.models()
	o := &Objective{
		config: c, learner: shape.NewLearner(c.Shape, c.Prior), models: models, maxima: make([]float64, len(models)),
		hold: decide.Recall(c.Lead, c.Shape.Step), refit: max(1, int(c.Refit/c.Shape.Step)), k: c.Fixed,
		gate: gate{priced: c.Price > 0}, unseen: unseen(c.Autoscalers),
	}
	names := []string{Learnt}
	if c.Fixed == 0 {
		names = append(names, LastValue, LastSeason)
		for _, m := range models {
			names = append(names, m.Name)
		}
	}
	for i, name := range names {
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
	if c.Fixed > 0 {
		return o, nil
	}
	var err error
	o.accounts, err = newAccounts(c)
	o.choose()
	return o, err
}

// Sample is what is known of a step.
type Sample struct {
	// Observed is the demand as it is observed, Arrived that which arrived in the step; NaN for gaps.
	Observed, Arrived float64
	// AtLeast says that both were this or more: a saturated service hides what they were.
	AtLeast bool
	// Limit is the most that history justified at the step.
	Limit credible.Limit
}

// Step takes the next step. Of a demand that was at least so much a model is told only where that is above what it has
// forecast; the shadows play what is seen, so that what they have late is the least that was.
func (o *Objective) Step(s Sample) {
	for i, m := range o.models {
		known := s.Arrived
		if s.AtLeast && known < o.maxima[i] {
			known = math.NaN()
		}
		o.maxima[i] = m.Push(known)
	}
	o.refresh()
	learn := o.learner.Push
	if s.AtLeast {
		learn = o.learner.PushBound
	}
	learn(s.Observed, o.maxima[:len(o.config.Models)]) // Those that what is learnt listens to.
	if s.Limit.Known && s.Arrived > s.Limit.Forecast {
		o.unforeseen = o.config.Shape.WindowSteps()
	}
	o.play(s.Arrived)
	o.look(s.Limit)
	if o.accounts != nil {
		o.accounts.serve(o.Value(), o.observed())
	}
}

// refresh fits the shape when it is time.
func (o *Objective) refresh() {
	if o.steps%o.refit == 0 {
		o.learner.Fit()
	}
	o.steps++
}

// Fit fits the shape anew.
func (o *Objective) Fit() { o.learner.Fit() }

// play plays the step that has ended in all shadows, and when an hour is over learns from it. The first step has none
// before it.
func (o *Objective) play(arrived float64) {
	if o.accounts == nil || o.steps == 1 {
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
	surged := o.candidates[1].surged() // The last value's.
	for _, c := range o.candidates {
		c.hour(surged, !o.skipped)
	}
	o.skipped = false
}

// look takes the shapes ahead of the newest step.
func (o *Objective) look(limit credible.Limit) {
	f, now := o.learner.Features(), o.observed()
	for i, c := range o.candidates {
		var w shape.Window
		switch {
		case c.alone == nil:
			w = o.learner.Window()
			w.Spread = math.Max(w.Spread, o.unseen*w.Median)
		case c.name == LastValue:
			w = c.ahead(now, f)
		case c.name == LastSeason:
			w = c.ahead(f.LastSeason(), f)
		default:
			w = c.ahead(o.maxima[i-(len(o.candidates)-len(o.maxima))], f)
		}
		s := decide.Shape{Median: w.Median, Spread: w.Spread}
		if i == 0 {
			s.Windows = o.learner.Rows()
		}
		c.see(decide.Input{Observed: limit.Credit(now), Limit: limit, Typical: f.Level(), Learnt: s}, o.hold)
	}
}

// unseen is half of what the autoscalers' tolerance hides of a rise, the most of all. It is the least spread that is learnt,
// as a share of the median: where a demand is so smooth that its own spread is next to nothing, capacity would else stand
// just below it for hours, and all of it be late.
func unseen(all []Autoscaler) float64 {
	most := 0.0
	for i := range all {
		up, _ := all[i].Spec.HPA.Tolerances()
		most = math.Max(most, up/2)
	}
	return most
}

// choose chooses whose shape is served, and with which multiple.
func (o *Objective) choose() {
	o.gate.choose(o.scores(), o.loss)
	o.k = o.multiple(o.serving())
}

// multiple is the largest that any of the autoscalers needs.
func (o *Objective) multiple(c *candidate) float64 {
	k := 0.0
	for i := range c.trials {
		one, _ := needs(c.trials[i].curve, o.config.Price, o.config.Late)
		k = math.Max(k, one)
	}
	return k
}

func (o *Objective) serving() *candidate { return o.candidates[o.gate.serving] }

// Inputs are those of the shape that is served, newest last; they are good until the next Step.
func (o *Objective) Inputs() []decide.Input { return o.serving().inputs }

// K is the multiple of the spread that is served.
func (o *Objective) K() float64 { return o.k }

// Value is what is served: never less than is observed. NaN before the first step.
func (o *Objective) Value() float64 {
	if math.IsNaN(o.Now()) {
		return math.NaN()
	}
	return decide.Held(o.k, o.Inputs())
}

// observed is Now, and 0 before the first.
func (o *Objective) observed() float64 {
	if now := o.Now(); !math.IsNaN(now) {
		return now
	}
	return 0
}

// Now is the newest demand that was observed, NaN before the first.
func (o *Objective) Now() float64 { return o.learner.Features().Now() }

// Lates is, by candidate, the share of all the demand so far that was late under each multiple of its grid with the first
// autoscaler: what priors are made of.
func (o *Objective) Lates() margin.Priors {
	out := margin.Priors{}
	for _, c := range o.candidates {
		if len(c.trials) > 0 {
			out[c.name] = c.trials[0].margin.Lates()
		}
	}
	return out
}
