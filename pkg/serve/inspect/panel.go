package inspect

import (
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// axis turns times into seconds from now, so that no precision is lost on the way to the canvas.
type axis struct{ now time.Time }

func (a axis) at(t time.Time) float64 { return t.Sub(a.now).Seconds() }

// pastPanel is the last day: the observed demand, what was served, and the maximum that came.
func pastPanel(s *v1alpha1.OutlookStatus, now time.Time) (*plot.Plot, error) {
	a := axis{now}
	p := panel(now, pastTop(s))
	p.X.Min, p.X.Max = a.earliest(s), 0
	p.X.Label.Text = "time of day (UTC), the last " + hours(-p.X.Min)
	p.Y.Label.Text = yLabel(s)
	addRepairs(p, a, s.Repairs)
	promise, arrived := make(plotter.XYs, 0, len(s.Past)), make(plotter.XYs, 0, len(s.Past))
	for _, forecast := range s.Past {
		promise = append(promise, a.point(forecast.Time.Time, forecast.Forecast))
		if forecast.Observed != nil {
			arrived = append(arrived, a.point(forecast.Time.Time, forecast.Observed))
		}
	}
	if err := addDots(p, arrived, dot(came, 1.9)); err != nil {
		return nil, err
	}
	if err := addRuns(p, promise, promisedLine()); err != nil {
		return nil, err
	}
	return p, addRuns(p, a.recent(s), observedLine())
}

// earliest is where the last day's panel begins: at the oldest mark, from an hour to a day ago.
func (a axis) earliest(s *v1alpha1.OutlookStatus) float64 {
	oldest := -time.Hour.Seconds()
	if len(s.Recent) > 0 {
		oldest = min(oldest, a.at(s.Recent[0].Time.Time))
	}
	if len(s.Past) > 0 {
		oldest = min(oldest, a.at(s.Past[0].Time.Time))
	}
	return math.Floor(max(oldest, -24*time.Hour.Seconds()))
}

// aheadPanel is now and what comes: the end of the observed demand, the fan of the path and the value served.
func aheadPanel(s *v1alpha1.OutlookStatus, now time.Time) (*plot.Plot, error) {
	a := axis{now}
	reach := a.reach(s)
	recent := clip(a.recent(s), -reach/2, reach)
	top := aheadTop(s, recent)
	p := panel(now, top)
	p.X.Min, p.X.Max = -reach/2, reach
	p.X.Label.Text = "time of day (UTC), now and ahead"
	if len(s.Path) > 0 && s.PathModel != s.Model {
		p.X.Label.Text += " (path: " + plain(s.PathModel) + ")"
	}
	addRepairs(p, a, s.Repairs)
	if err := addFan(p, a, s.Path); err != nil {
		return nil, err
	}
	if err := addRuns(p, recent, observedLine()); err != nil {
		return nil, err
	}
	if err := addNow(p, top); err != nil {
		return nil, err
	}
	return p, addServed(p, s)
}

// reach is how far ahead the panel looks: to the end of the path and of the window, a minute at least.
func (a axis) reach(s *v1alpha1.OutlookStatus) float64 {
	reach := math.Max(s.Window.Duration.Seconds(), time.Minute.Seconds())
	if n := len(s.Path); n > 0 {
		reach = math.Max(reach, a.at(s.Path[n-1].Time.Time))
	}
	return reach
}

// hours is a length of the past in words, in whole hours where it is several.
func hours(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d > 2*time.Hour {
		return span(d.Round(time.Hour))
	}
	return span(d.Round(time.Minute))
}

// panel is an empty plot in the house's style, from 0 to top.
func panel(now time.Time, top float64) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Tick.Marker, p.Y.Tick.Marker = clockTicks{now}, roundTicks{}
	p.Y.Min, p.Y.Max = 0, top
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Padding = 0
		axis.Label.TextStyle.Font = face(10)
		axis.Label.TextStyle.Color = soft
		axis.Tick.Label.Font = face(9.5)
		axis.Tick.Label.Color = ink
		axis.LineStyle = draw.LineStyle{Color: edge, Width: 0.8}
		axis.Tick.LineStyle = axis.LineStyle
		axis.Tick.Length = 4
	}
	p.X.Label.Padding, p.Y.Label.Padding = 3, 6
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width, p.Y.Tick.Length = 0, 0, 0
	grid := plotter.NewGrid()
	grid.Horizontal = draw.LineStyle{Color: ruling, Width: 0.8}
	grid.Vertical = draw.LineStyle{Color: ruling, Width: 0.5}
	p.Add(grid)
	return p
}

func yLabel(s *v1alpha1.OutlookStatus) string {
	if s.Unit == "" {
		return "demand"
	}
	return "demand, " + plain(s.Unit)
}

// highest finds the top of a panel: a little above its highest mark, and 1 where all is zero or nothing is known.
type highest float64

func (h *highest) see(v *float64) {
	if v != nil {
		*h = highest(math.Max(float64(*h), *v))
	}
}

func (h *highest) top(room float64) float64 {
	if *h == 0 {
		return 1
	}
	return float64(*h) * room
}

func pastTop(s *v1alpha1.OutlookStatus) float64 {
	var h highest
	h.see(s.Observed)
	for i := range s.Recent {
		h.see(s.Recent[i].Observed)
	}
	for i := range s.Past {
		h.see(s.Past[i].Forecast)
		h.see(s.Past[i].Observed)
	}
	return h.top(1.06)
}

// aheadTop looks only at what its panel shows, so that a peak of last night does not flatten the next hour. It leaves
// room for the number above the value served.
func aheadTop(s *v1alpha1.OutlookStatus, recent plotter.XYs) float64 {
	var h highest
	h.see(s.Observed)
	h.see(s.Served)
	for i := range recent {
		if !math.IsNaN(recent[i].Y) {
			h.see(&recent[i].Y)
		}
	}
	for i := range s.Path {
		h.see(s.Path[i].Point)
		for _, v := range s.Path[i].Quantiles {
			h.see(&v)
		}
	}
	return h.top(1.12)
}
