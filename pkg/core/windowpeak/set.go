package windowpeak

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// CandidateSet holds all candidates of one demand. It is not safe for concurrent use.
type CandidateSet struct {
	// Candidates in the order of CandidateNames.
	Candidates []*Candidate
	// Windows are all calibrated windows, in steps, ascending; LeadWindow is the index of the lead window among them.
	Windows    []int
	LeadWindow int

	config     Config
	regression *pooledRegression
	// regressionInputs are the indices of the candidates that the regression reads. maxima are their forecasts.
	regressionInputs []int
	maxima           []float64
	// peaks are the maxima of the newest windows. actual are their peaks, as far as they are known.
	peaks  []*series.TrailingMax
	actual actualPeaks
	age    int // steps
	refit  int // steps
	// last is the age at the last step; 0 if it is unknown.
	last int

	medians []float64 // scratch
	sample  demand.Sample
}

// NewCandidateSet returns a set before its first step. The error lists all problems of the configuration.
func NewCandidateSet(c Config) (*CandidateSet, error) {
	if c.Level == 0 {
		c.Level = 0.95
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	prior := c.Prior
	c.Prior = Prior{} // Only the regression uses the prior.
	s := &CandidateSet{
		config:     c,
		Windows:    c.AllWindows(),
		refit:      max(1, int(refitRegression/c.Step)),
		regression: newPooledRegression(c, prior),
	}
	s.LeadWindow = slices.Index(s.Windows, s.regression.features.window)
	n := len(s.Windows)
	s.actual = actualPeaks{maxima: make([]float64, n), exact: make([]bool, n)}
	s.medians = make([]float64, n)
	for _, w := range s.Windows {
		s.peaks = append(s.peaks, series.NewTrailingMax(w))
	}
	if err := s.addCandidates(); err != nil {
		return nil, err
	}
	for _, name := range c.regressionInputs() {
		s.regressionInputs = append(s.regressionInputs, s.Find(name))
	}
	s.maxima = make([]float64, len(s.regressionInputs))
	return s, nil
}

func (c Config) validate() error {
	var problems []error
	if c.Step <= 0 || c.Window < c.Step {
		problems = append(problems,
			fmt.Errorf("window peak: step %s and window %s, expected a window of at least one step", c.Step, c.Window))
	}
	if !slices.IsSorted(c.Seasons) || len(c.Seasons) > 0 && c.Seasons[0] <= 0 {
		problems = append(problems,
			fmt.Errorf("window peak: seasons %v, expected them ascending and more than 0", c.Seasons))
	}
	return errors.Join(problems...)
}

// AllWindows are all calibrated windows, in steps, ascending: one step, the lead window, and the Windows.
func (c Config) AllWindows() []int {
	out := append([]int{1, c.steps(c.Window)}, c.Windows...)
	slices.Sort(out)
	return slices.Compact(out)
}

// addCandidates adds the regression, the baselines, and the configured models.
func (s *CandidateSet) addCandidates() error {
	for _, name := range CandidateNames() {
		if slices.Contains(FittedModels(), name) && s.config.Models != nil && !slices.Contains(s.config.Models, name) {
			continue
		}
		of, err := s.config.newPredictor(name, s.regression, s.Windows[len(s.Windows)-1])
		if err != nil {
			return err
		}
		if of != nil {
			s.Candidates = append(s.Candidates, newCandidate(name, of, s))
		}
	}
	return nil
}

// Step records a sample, scores the forecasts whose windows end, and forecasts again.
func (s *CandidateSet) Step(x demand.Sample) {
	f := s.regression.features
	f.usual = x.Bound.Usual
	s.sample = x                     // A field, so that push does not allocate.
	for _, c := range s.Candidates { // Models first, because the regression reads them.
		if of, ok := c.predictor.(interface{ push(x *demand.Sample) }); ok {
			of.push(&s.sample)
		}
	}
	s.updateRegression(x)
	every := s.scoringInterval()
	s.recordActual(x.Observed, time.Duration(every)*s.config.Step)
	for _, c := range s.Candidates {
		if of, ok := c.predictor.(interface{ follow(f *features) }); ok {
			of.follow(f)
		}
		c.step(f)
		c.scores.score(&s.actual)
		if s.age%every != 0 || !c.hasForecast {
			c.scores.skip()
			continue
		}
		if every == 1 || s.age%(otherEvery*every) == 0 {
			c.maximaTo(s.medians)
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

// updateRegression records the step in the regression, and refits it when it is due.
func (s *CandidateSet) updateRegression(x demand.Sample) {
	for i, at := range s.regressionInputs {
		s.maxima[i] = math.NaN()
		if at < 0 {
			continue
		}
		// The prior of the regression is fitted to mature models.
		if m, ok := s.Candidates[at].predictor.(*blockPredictor); !ok || m.mature() {
			s.maxima[i] = s.Candidates[at].levelled(s.Candidates[at].predictor.median(), s.regression.features)
		}
	}
	if s.age%s.refit == 0 {
		s.regression.fit()
		s.dropRows()
	}
	if x.Censored {
		s.regression.observeCensored(x.Observed, s.maxima)
	} else {
		s.regression.observe(x.Observed, s.maxima)
	}
}

// EndIn says that at most this many steps follow. It drops the data that only later refits would read, which is most of the memory.
func (s *CandidateSet) EndIn(steps int) {
	if s.last = s.age + steps; s.age%s.refit != 0 { // Otherwise, the next step refits.
		s.dropRows()
	}
}

// dropRows drops the regression's rows if no refit follows this step.
func (s *CandidateSet) dropRows() {
	if next := (s.age/s.refit + 1) * s.refit; s.last > 0 && next > s.last {
		s.regression.rows, s.regression.prior.Median.Precision, s.regression.prior.Upper.Precision = rows{}, nil, nil
		s.regression.room = quantreg.Rows{}
	}
}

// recordActual records the actual peaks of the windows that end now, and the time that their scores represent.
func (s *CandidateSet) recordActual(observed float64, stands time.Duration) {
	f := s.regression.features
	for i, w := range s.Windows {
		s.peaks[i].Push(observed)
		s.actual.maxima[i], s.actual.exact[i] = math.NaN(), f.sinceCensored >= w
		if f.sinceGap >= w {
			s.actual.maxima[i] = s.peaks[i].Value()
		}
	}
	s.actual.level = f.level.Value()
	s.actual.weight = stands
}

// scoringInterval returns the number of steps between two scored forecasts. It is one for a young series, and grows until the kept scores
// cover a season.
func (s *CandidateSet) scoringInterval() int {
	season := s.config.steps(s.config.Season())
	return max(1, min(s.age, season)/scoreCount)
}

// Find returns the index of the candidate with a name; −1 if there is none.
func (s *CandidateSet) Find(name string) int {
	return slices.IndexFunc(s.Candidates, func(c *Candidate) bool { return c.Name == name })
}

// LastSeasonPeak is the actual peak of the lead window a season ago; NaN if it is unknown.
func (s *CandidateSet) LastSeasonPeak() float64 { return s.regression.features.lastSeason.peak() }

// ActualPeak returns the highest demand in the lead window that ends with the newest step; NaN if it is unknown. It is a lower bound if the
// demand was censored.
func (s *CandidateSet) ActualPeak() float64 { return s.actual.maxima[s.LeadWindow] }
