package ensemble

import "github.com/forewarm/forewarm/forecast"

// Replayed fits on the first part of a series and replays the rest; Updated feeds the rest to Update, from the same
// beginning: members that have seen the first part, losses that are seeded by the rest.
func (m Auto) Replayed(s forecast.Series, split int) (*Fitted, error) {
	f, err := m.begun(s, split)
	if err == nil {
		f.replay(s.Values[split:])
	}
	return f, err
}

func (m Auto) Updated(s forecast.Series, split int) (*Fitted, error) {
	f, err := m.begun(s, split)
	if err != nil {
		return nil, err
	}
	foreseen, err := m.begun(s, split)
	if err != nil {
		return nil, err
	}
	for k, script := range foreseen.points.rehearse(s.Values[split:]) {
		f.points.seed(k, script, s.Values[split:])
	}
	f.points.weigh()
	f.points.updatePath()
	f.points.file()
	f.aim()
	f.file()
	for _, y := range s.Values[split:] {
		f.Update(y)
	}
	return f, nil
}

func (m Auto) begun(s forecast.Series, split int) (*Fitted, error) {
	options, err := m.filled()
	if err != nil {
		return nil, err
	}
	taken, dropped := options.plan(s.Len(), s.Len()-split)
	f := newFitted(options, s, taken, dropped)
	for _, y := range s.Values[:split] {
		f.observe(y)
	}
	f.fit(s.Slice(0, split))
	return f, nil
}
