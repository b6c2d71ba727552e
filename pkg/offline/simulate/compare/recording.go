package compare

import (
	"context"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Recording is what Forewarm serves and knows at each step of a history, as on the server.
type Recording struct {
	// Spec is the workload. The target of its HPA is what a replica sustains.
	Spec sim.Spec
	// Demand is on the grid of the HPA's controller.
	Demand forecast.Series
	// Served has the value that the HPA reads at each sync; NaN if none is served.
	Served []float64

	window  time.Duration
	windows [][]windowpeak.Window
	peaks   forecast.Series
}

// Record plays a history to Forewarm. progress is called after each day; it may be nil.
func Record(ctx context.Context, c Config, progress func()) (*Recording, error) {
	p, err := newPlan(ctx, "record", c)
	if err != nil {
		return nil, err
	}
	of := p.forecasterConfig(p.Objective)
	of.KeepServedPeaks = true
	r := &peakRecorder{progress: progress}
	r.Forewarm, r.keep = simulate.NewForewarm(of), true
	if _, err := simulate.ServedValues(p.demand, Step, stoppable{p.done, r}); err != nil {
		return nil, err
	}
	if err := p.interrupted(); err != nil {
		return nil, err
	}
	r.read()
	return &Recording{
		Spec: p.spec(p.capacityTarget()), Demand: p.demand, Served: r.values[0][:p.demand.Len()],
		window: r.window, windows: r.windows, peaks: r.peaks,
	}, nil
}

// RecordedDays returns how often Record calls progress for a history.
func RecordedDays(s forecast.Series) int { return int(time.Duration(s.Len()-1) * s.Step / day) }

// peakRecorder also records the served peaks. The forecaster keeps those of two weeks, so they are read every day.
type peakRecorder struct {
	servedRecorder

	steps    int
	window   time.Duration
	peaks    forecast.Series
	progress func()
}

// Serve is the value of the objective.
func (r *peakRecorder) Serve(o simulate.Observation) float64 {
	v := r.servedRecorder.Serve(o)
	r.steps++
	if r.steps%int(day/Step) == 0 {
		r.read()
		if r.progress != nil {
			r.progress()
		}
	}
	return v
}

func (r *peakRecorder) read() {
	var e snapshot.ForecastSnapshot
	r.Forecaster().Describe(&e)
	s := &e.ServedPeaks
	r.window = e.Window
	if r.peaks.Len() == 0 {
		r.peaks = forecast.Series{Start: s.Start, Step: s.Step}
	}
	for i, v := range s.Values {
		if s.TimeAt(i).After(r.peaks.TimeAt(r.peaks.Len() - 1)) {
			r.peaks.Values = append(r.peaks.Values, v)
		}
	}
}

// Outlook returns what a fleet's plan knows at a time of the history (fleet.OutlookOf): the results of the step before, as in Served.
func (r *Recording) Outlook(at time.Time) fleet.Outlook {
	i := int(at.Sub(r.Demand.Start) / Step)
	out := fleet.Outlook{Served: r.Served[i*int(Step/sync)], Window: r.window, Unreliable: "is still warming up"}
	if i == 0 || i > len(r.windows) || len(r.windows[i-1]) == 0 {
		return out
	}
	out.Unreliable, out.Windows = "", r.windows[i-1]
	known := int(at.Add(-Step).Sub(r.peaks.Start)/r.peaks.Step) + 1
	known = min(max(known, 0), r.peaks.Len())
	from := max(0, known-int(fleet.HistoryLength/r.peaks.Step))
	out.ServedPeaks = forecast.Series{
		Start: r.peaks.TimeAt(from), Step: r.peaks.Step, Values: r.peaks.Values[from:known],
	}
	return out
}
