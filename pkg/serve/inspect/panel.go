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
func pastPanel(s *v1alpha1.OutlookStatus, now time.Time, top float64) (*plot.Plot, error) {
	a := axis{now}
	p := panel(now, top)
	p.X.Min, p.X.Max = a.earliest(s), 0
	p.X.Label.Text = "time of day (UTC), the last " + span((-time.Duration(p.X.Min) * time.Second).Round(time.Minute))
	p.Y.Label.Text = yLabel(s)
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
func aheadPanel(s *v1alpha1.OutlookStatus, now time.Time, top float64) (*plot.Plot, error) {
	a := axis{now}
	p := panel(now, top)
	reach := s.Window.Duration.Seconds()
	if n := len(s.Path); n > 0 {
		reach = math.Max(reach, a.at(s.Path[n-1].Time.Time))
	}
	reach = math.Max(reach, time.Minute.Seconds())
	p.X.Min, p.X.Max = -reach/2, reach
	p.X.Label.Text = "time of day (UTC), now and ahead"
	if err := addFan(p, a, s.Path); err != nil {
		return nil, err
	}
	if err := addRuns(p, a.recent(s), observedLine()); err != nil {
		return nil, err
	}
	if err := addNow(p, top); err != nil {
		return nil, err
	}
	return p, addServed(p, s)
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

// ceiling is the top of both panels: a little above the highest mark, and 1 where all is zero or nothing is known.
func ceiling(s *v1alpha1.OutlookStatus) float64 {
	highest := 0.0
	see := func(v *float64) {
		if v != nil {
			highest = math.Max(highest, *v)
		}
	}
	see(s.Observed)
	see(s.Served)
	for i := range s.Recent {
		see(s.Recent[i].Observed)
	}
	for i := range s.Past {
		see(s.Past[i].Forecast)
		see(s.Past[i].Observed)
	}
	for i := range s.Path {
		see(s.Path[i].Point)
		for _, v := range s.Path[i].Quantiles {
			highest = math.Max(highest, v)
		}
	}
	if highest == 0 {
		return 1
	}
	return highest * 1.06
}
