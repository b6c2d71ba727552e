package ensemble

import "github.com/forewarm/forewarm/forecast"

// Points is Auto without its calibration: a Combination, for callers that calibrate by themselves. Quantiles are unused.
type Points struct{ Auto }

var _ forecast.Model = Points{}

// Fit needs one observation. Errors as Auto's.
func (p Points) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := p.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which gives reasons.
func (p Points) Estimate(s forecast.Series) (*Combination, error) {
	options, s, err := p.begin(s)
	if err != nil {
		return nil, err
	}
	return options.combine(s), nil
}

func (m Auto) combine(s forecast.Series) *Combination {
	held := m.holdOut(s.Len())
	split := s.Len() - held
	taken, dropped := m.plan(s.Len(), held)
	c := newCombination(m, s, taken, dropped)
	for _, y := range s.Values[:split] {
		c.observe(y)
	}
	c.fit(s.Slice(0, split))
	for range c.replay(s.Values[split:]) {
		continue // The weights are learnt on the way.
	}
	if held > 0 {
		c.choose()
		c.fit(s)
	}
	return c
}
