package ensemble

import "slices"

// Reasons explain an ensemble's forecast.
type Reasons struct {
	// Horizons are the steps ahead that are scored, ascending; what is given by horizon is in their order.
	Horizons []int
	// Candidates are the models that were considered, those that take part first.
	Candidates []Candidate
	// Errors is how many errors the quantiles rest on, by horizon; with fewer than 40 they are the members' own.
	Errors []int
}

// Candidate is a model that was considered.
type Candidate struct {
	Name string
	// Kind is the name without what comes of the seasons and the data, as Auto.Without takes it: "auto-ETS". It is empty
	// where TooCostly.
	Kind string
	// Loss is the trailing mean absolute error by horizon, NaN where it is not known; Weight is the share that the
	// model has in the ensemble's forecast.
	Loss, Weight []float64
	// Err is why the model could not be fitted; TooCostly means that the budget left it out; Outdone that others did
	// better at the end of the series, which was held out: its losses are of that time.
	Err                error
	TooCostly, Outdone bool
}

// Reasons are a copy: they do not change with the next Update.
func (f *Fitted) Reasons() Reasons {
	r := f.points.Reasons()
	for j := range r.Horizons {
		r.Errors = append(r.Errors, f.values[j].gauges[0].scores.Len())
	}
	return r
}

// Reasons are a copy: they do not change with the next Update. Nothing is calibrated.
func (c *Combination) Reasons() Reasons {
	r := Reasons{Horizons: slices.Clone(c.anchors)}
	for k, m := range c.members {
		r.Candidates = append(r.Candidates, c.candidateReason(k, m))
	}
	for _, o := range c.outdone {
		o.Loss, o.Weight, o.Outdone = slices.Clone(o.Loss), make([]float64, len(c.anchors)), true
		r.Candidates = append(r.Candidates, o)
	}
	for _, name := range c.dropped {
		r.Candidates = append(r.Candidates, Candidate{Name: name, TooCostly: true})
	}
	return r
}

// candidateReason is member k in the form of Reasons.
func (c *Combination) candidateReason(k int, m *member) Candidate {
	out := Candidate{Name: m.name(), Kind: kind(m.model), Err: m.err}
	for j := range c.anchors {
		out.Loss = append(out.Loss, c.losses[j][k].mean())
		out.Weight = append(out.Weight, c.weights[j][k])
	}
	return out
}

// name is that of the fitted model where it has one: automatic models select their structure in Fit.
func (m *member) name() string {
	if named, ok := m.fitted.(interface{ Name() string }); ok && m.err == nil {
		return named.Name()
	}
	return m.candidate.name()
}
