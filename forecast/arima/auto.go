package arima

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

const (
	// finalists is how many of the screened orders are compared by exact likelihood.
	finalists = 5
	// overtime is how many are, where each of the finalists has a root on the circle.
	overtime = 10
	// screened is how many of the newest values orders are screened on, and for a long season how many seasons of them:
	// enough to tell them apart.
	screened, screenedSeasons = 4000, 6
	// margin is how far from the unit circle the roots of a chosen model must lie (Hyndman & Khandakar 2008), those of
	// its seasonal part on their own scale of whole seasons.
	margin = 1.01
)

// Auto is an ARIMA whose order is chosen when it is fitted.
type Auto struct {
	// MaxP and MaxQ bound the autoregressive and moving-average terms that are tried. 0 means 3.
	MaxP, MaxQ int
	// MaxD bounds the differences, at most 2. 0 means 2; fewer than 0 means none.
	MaxD int
	// Period is the season's length in steps; 0 means none. A series of fewer than two seasons and a half is fitted
	// without.
	Period int
	// MaxSeasonalP and MaxSeasonalQ bound the seasonal terms. 0 means 2.
	MaxSeasonalP, MaxSeasonalQ int
	// KeepMean keeps the mean of a positive series where nothing is differenced. Without it the information criterion may
	// drop the mean if there are few observations or one of them is far from all others, and the forecast returns to 0.
	KeepMean bool
}

// Name has no order: Fit selects it.
func (a Auto) Name() string {
	if a.Period > 0 {
		return fmt.Sprintf("Auto-SARIMA(m=%d)", a.Period)
	}
	return "Auto-ARIMA"
}

// Fit chooses the order and estimates its coefficients. It wants three observations.
func (a Auto) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := a.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which shows the order that was chosen.
func (a Auto) Estimate(s forecast.Series) (*Fitted, error) {
	bounds, err := a.filled()
	if err != nil {
		return nil, err
	}
	if err := numeric.Check(s, 3); err != nil {
		return nil, fmt.Errorf("auto-ARIMA: %w", err)
	}
	if 2*s.Observed() < 5*bounds.Period {
		bounds.Period = 0
	}
	recent := s
	newest := max(screened, screenedSeasons*bounds.Period)
	if n := s.Len(); n > newest && 2*s.Slice(n-newest, n).Observed() > newest {
		recent = s.Slice(n-newest, n)
	}
	d, seasonal := bounds.differences(s)
	for {
		ranked := newSearch(bounds, recent, d, seasonal).run()
		fitted, err := choose(s, ranked)
		if err == nil || d+seasonal == 0 || !errors.Is(err, forecast.ErrTooShort) {
			return fitted, err
		}
		d, seasonal = max(d-1, 0), min(seasonal, d)
	}
}

// filled puts the defaults in place.
func (a Auto) filled() (Auto, error) {
	if a.MaxP < 0 || a.MaxP > maxLag || a.MaxQ < 0 || a.MaxQ > maxLag || a.MaxD > maxDifference {
		return a, fmt.Errorf("auto-ARIMA: p to %d, q to %d, d to %d; expected p and q from 0 to %d, and d up to %d: %w",
			a.MaxP, a.MaxQ, a.MaxD, maxLag, maxDifference, forecast.ErrParameter)
	}
	if a.Period == 1 || a.Period < 0 || a.Period > maxSeason || a.MaxSeasonalP < 0 || a.MaxSeasonalQ < 0 {
		return a, fmt.Errorf(
			"auto-ARIMA: seasonal P to %d, Q to %d with period %d; expected 0 or more, and a period from 2 to %d: %w",
			a.MaxSeasonalP,
			a.MaxSeasonalQ,
			a.Period,
			maxSeason,
			forecast.ErrParameter,
		)
	}
	a.MaxP, a.MaxQ = cmp.Or(a.MaxP, 3), cmp.Or(a.MaxQ, 3)
	a.MaxD = max(cmp.Or(a.MaxD, maxDifference), 0)
	a.MaxSeasonalP, a.MaxSeasonalQ = cmp.Or(a.MaxSeasonalP, 2), cmp.Or(a.MaxSeasonalQ, 2)
	if a.Period > 0 {
		a.MaxSeasonalP = min(a.MaxSeasonalP, maxSeason/a.Period)
		a.MaxSeasonalQ = min(a.MaxSeasonalQ, maxSeason/a.Period)
	}
	return a, nil
}

// differences chooses those of both kinds: a seasonal one where the season is strong, then as many others as leave what
// KPSS takes for stationary around a level.
func (a Auto) differences(s forecast.Series) (d, seasonal int) {
	values := s.Values
	if a.Period > 0 {
		seasonal = seasonalDifferencesOf(values, a.Period)
	}
	if seasonal > 0 {
		delta := differencing(0, seasonal, a.Period)
		values = delta.apply(values)
	}
	return differencesOf(values, a.MaxD), seasonal
}

// choose compares the best of the screened orders by exact likelihood and fits the winner, or the next where that
// fails. Orders with a root on the circle stand behind all others, as the screening ranked them.
func choose(s forecast.Series, ranked []candidate) (*Fitted, error) {
	failure := fmt.Errorf("%d observations: %w", s.Observed(), forecast.ErrTooShort)
	var inside, others []*finalist
	for i, c := range ranked {
		if i >= contest(s, c.order) && len(inside) > 0 || i >= overtime && len(others) > 0 {
			break
		}
		f, err := c.compete(s)
		switch {
		case err != nil:
			failure = err
		case f.inside(margin):
			inside = append(inside, f)
		default:
			others = append(others, f)
		}
	}
	slices.SortStableFunc(inside, func(x, y *finalist) int { return cmp.Compare(x.criterion, y.criterion) })
	for _, f := range append(inside, others...) {
		fitted, err := f.fit(s)
		if err == nil {
			return fitted, nil
		}
		failure = err
	}
	return nil, fmt.Errorf("auto-ARIMA: %w", failure)
}

// contest is how many candidates are compared: fewer where a pass is long.
func contest(s forecast.Series, order Order) int {
	if s.Len()*order.Seasonal.Period > affordable {
		return 2
	}
	return finalists
}

// finalist is a candidate with the point where the exact likelihood led, and its criterion there.
type finalist struct {
	*evaluator
	x         []float64
	criterion float64
}

// compete climbs the exact likelihood of the candidate from where the screening left it.
func (c candidate) compete(s forecast.Series) (*finalist, error) {
	pr, err := prepare(s, c.order)
	if err != nil {
		return nil, err
	}
	f := &finalist{evaluator: newEvaluator(pr), x: make([]float64, c.order.coefficients()), criterion: math.Inf(-1)}
	copy(f.x, c.x)
	if pr.flat {
		return f, nil
	}
	if f.x, err = f.climb(f.x, contestDecrease); err != nil {
		return nil, err
	}
	o := f.exactAt(f.x)
	logLikelihood := -float64(o.n) * (o.objective() + math.Log(pr.scale))
	f.criterion = aicc(logLikelihood, o.n, c.order.parameters()+1)
	return f, nil
}

// fit is the fit of a finalist.
func (f *finalist) fit(s forecast.Series) (*Fitted, error) {
	if f.flat {
		return f.fitFlat(s)
	}
	return f.evaluator.fit(s, f.x)
}

// inside reports whether all roots of the four polynomials lie outside the circle of the radius.
func (p *process) inside(radius float64) bool {
	c := p.factors
	for _, ar := range [][]float64{c.AR, c.SAR} {
		if !stationary(ar, 1, radius) {
			return false
		}
	}
	for _, ma := range [][]float64{c.MA, c.SMA} {
		if !stationary(ma, -1, radius) {
			return false
		}
	}
	return true
}
