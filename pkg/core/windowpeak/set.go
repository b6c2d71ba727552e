package windowpeak

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// Sample is what is known of a step.
type Sample struct {
	// Observed is the demand as it is observed, Arrived that which arrived in the step; NaN for gaps.
	Observed, Arrived float64
	// AtLeast says that both were this or more: a saturated service hides what they were.
	AtLeast bool
	// Bound is the most that history justified at the step.
	Bound credible.Bound
}

// Set is all candidates of one demand. It is not safe for concurrent use.
type Set struct {
	config  Config
	windows []int // in steps, ascending
	own     int   // index of the lead window among them
	learner *Learner
	// candidates are those that are forecast by, reads the indices of those that the regression reads, and maxima what these
	// forecast.
	candidates []*Candidate
	reads      []int
	maxima     []float64
	// peaks are the maxima of the newest windows, came what is known of them.
	peaks []*trailing.Max
	came  came
	age   int // steps
	refit int // steps

	medians []float64 // scratch
}

// New has seen nothing yet. Errors: every problem of the configuration.
func New(c Config) (*Set, error) {
	if c.Level == 0 {
		c.Level = 0.95
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	s := &Set{
		config: c, windows: c.AllWindows(), refit: max(1, int(refitRegression/c.Step)), learner: NewLearner(c, c.Prior),
	}
	s.own = slices.Index(s.windows, s.learner.features.window)
	n := len(s.windows)
	s.came = came{maxima: make([]float64, n), exact: make([]bool, n)}
	s.medians = make([]float64, n)
	for _, w := range s.windows {
		s.peaks = append(s.peaks, trailing.NewMax(w))
	}
	if err := s.fill(); err != nil {
		return nil, err
	}
	for _, name := range c.reads() {
		s.reads = append(s.reads, s.Find(name))
	}
	s.maxima = make([]float64, len(s.reads))
	return s, nil
}

func (c Config) validate() error {
	var problems []error
	if c.Step <= 0 || c.Window < c.Step {
		problems = append(
			problems,
			fmt.Errorf("window peak: step %s and window %s, want a step at least", c.Step, c.Window),
		)
	}
	if !slices.IsSorted(c.Seasons) || len(c.Seasons) > 0 && c.Seasons[0] <= 0 {
		problems = append(
			problems,
			fmt.Errorf("window peak: seasons %v, want them ascending and more than 0", c.Seasons),
		)
	}
	return errors.Join(problems...)
}

// AllWindows are all that are calibrated, in steps, ascending: one step, the lead window, and those asked for.
func (c Config) AllWindows() []int {
	out := append([]int{1, c.WindowSteps()}, c.Windows...)
	slices.Sort(out)
	return slices.Compact(out)
}

// fill makes the candidates: the regression, the baselines, and those that take part.
func (s *Set) fill() error {
	for _, name := range Names() {
		always := name == Regression || slices.Contains(Baselines(), name)
		if !always && s.config.Models != nil && !slices.Contains(s.config.Models, name) {
			continue
		}
		of, err := s.config.source(name, s.learner, s.windows[len(s.windows)-1])
		if err != nil {
			return err
		}
		if of != nil {
			s.candidates = append(s.candidates, newCandidate(name, of, s))
		}
	}
	if s.config.Extra == nil {
		return nil
	}
	of, err := s.config.modelled(s.config.Extra, s.config.Step, extraHistory*s.config.season())
	if err == nil {
		s.candidates = append(s.candidates, newCandidate(s.config.Extra.Name(), of, s))
	}
	return err
}

// extraHistory is how many seasons an Extra is fitted to.
const extraHistory = 14

// Step takes the next step.
func (s *Set) Step(x Sample) {
	f := s.learner.features
	for _, c := range s.candidates { // The models first: the regression reads them.
		if of, ok := c.of.(interface{ push(x *Sample) }); ok {
			of.push(&x)
		}
	}
	s.learn(x)
	every := s.every()
	s.come(x.Observed, time.Duration(every)*s.config.Step)
	for _, c := range s.candidates {
		if of, ok := c.of.(interface{ follow(f *Features) }); ok {
			of.follow(f)
		}
		c.step(f)
		c.scores.score(&s.came)
		if s.age%every != 0 || !c.own {
			c.scores.pass()
			continue
		}
		if every == 1 || s.age%(otherEvery*every) == 0 {
			c.of.maximaTo(s.medians, s.windows)
		} else {
			fillNaN(s.medians)
		}
		c.scores.issue(s.medians, c.peak, x.Bound)
	}
	s.age++
}

func fillNaN(of []float64) {
	for i := range of {
		of[i] = math.NaN()
	}
}

// learn lets the regression take the step, and fits it when it is time.
func (s *Set) learn(x Sample) {
	for i, at := range s.reads {
		s.maxima[i] = math.NaN()
		if at < 0 {
			continue
		}
		// The regression learnt what models are worth on those that had seen enough.
		if m, ok := s.candidates[at].of.(*modelled); !ok || m.grown() {
			s.maxima[i] = s.candidates[at].of.median()
		}
	}
	if s.age%s.refit == 0 {
		s.learner.Fit()
	}
	if x.AtLeast {
		s.learner.PushBound(x.Observed, s.maxima)
	} else {
		s.learner.Push(x.Observed, s.maxima)
	}
}

// come takes down what came over the windows that end now, and how much time its scores stand for.
func (s *Set) come(observed float64, stands time.Duration) {
	f := s.learner.features
	for i, w := range s.windows {
		s.peaks[i].Push(observed)
		s.came.maxima[i], s.came.exact[i] = math.NaN(), f.sinceBound >= w
		if f.sinceGap >= w {
			s.came.maxima[i] = s.peaks[i].Value()
		}
	}
	s.came.level = f.Level()
	s.came.time = stands
}

// every is how many steps apart forecasts are that are scored: a young series needs all that it has, later those that are kept
// reach back a season.
func (s *Set) every() int {
	season := s.config.steps(s.config.season())
	return max(1, min(s.age, season)/scoreCount)
}

// Candidates are all of them, in the order of Names.
func (s *Set) Candidates() []*Candidate { return s.candidates }

// Find is the index of a candidate by its name, −1 where there is none.
func (s *Set) Find(name string) int {
	return slices.IndexFunc(s.candidates, func(c *Candidate) bool { return c.name == name })
}

// Features are what is known of the demand at the newest step.
func (s *Set) Features() *Features { return s.learner.features }

// Windows are all that are calibrated, in steps, ascending; Own is the index of the lead window.
func (s *Set) Windows() []int { return s.windows }

// Own see Windows.
func (s *Set) Own() int { return s.own }

// Came is the maximum over the lead window that ends with the newest step, NaN where it is not known; exact says that it was
// that, and not more.
func (s *Set) Came() (peak float64, exact bool) {
	return s.came.maxima[s.own], s.came.exact[s.own]
}
