package demo

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/source/recorded"
	"github.com/forewarm/forewarm/pkg/source/trace"
	"github.com/forewarm/forewarm/testdata/traces"
)

// load is the demand in a demo.
type load struct {
	*playback

	// name is the name of the Forecast.
	name string
	// target is the demand that a replica sustains.
	target float64
	// lead is how long a replica takes to start.
	lead time.Duration
	// rise is when the demand begins to rise. The demo begins shortly before.
	rise time.Time
	// about has a sentence about each thing that the user should know about the load.
	about []string
}

// ownLoad is one of the loads that --load can select.
type ownLoad struct {
	name, file, about string
	rise              time.Time
}

// ownLoads returns the generated loads, see hack/tracegen.
func ownLoads() []ownLoad {
	january := func(day, hour, minute int) time.Time {
		return time.Date(2026, time.January, day, hour, minute, 0, 0, time.UTC)
	}
	return []ownLoad{
		{
			"office",
			traces.Office,
			"its users come to work at about nine, on each day at another time and in another number",
			january(16, 8, 36),
		},
		{"calm", traces.Calm, "it follows the time of day", january(17, 6, 10)},
		{"wild", traces.Requests, "it has bursts that no one can foresee", january(15, 10, 42)},
	}
}

// loadNames returns the names of the demo's own loads.
func loadNames() []string {
	var names []string
	for _, own := range ownLoads() {
		names = append(names, own.name)
	}
	return names
}

// ownTarget is the demand that a replica sustains with the demo's own loads, in requests per second.
const ownTarget = 10

// open reads the trace.
func (own *ownLoad) open() (*load, error) {
	series, err := readEmbedded(own.file, "requests")
	if err != nil {
		return nil, err
	}
	for i := range series.Values {
		series.Values[i] /= series.Step.Seconds() // The number of requests in a minute is converted to a rate.
	}
	played, err := newPlayback(series)
	return &load{
		playback: played, name: "requests", target: ownTarget, rise: own.rise, about: []string{
			fmt.Sprintf("%s demand, made by hack/tracegen: %s of requests per second; %s", own.name, span(series),
				own.about),
		},
	}, err
}

// readEmbedded reads a trace that is embedded in the binary.
func readEmbedded(file, column string) (series forecast.Series, err error) {
	opened, err := traces.Files.Open(file)
	if err != nil {
		return series, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	unzipped, err := gzip.NewReader(opened)
	if err != nil {
		return series, fmt.Errorf("%s: %w", file, err)
	}
	return trace.ReadColumn(unzipped, column)
}

// newLoad reads the load that the configuration specifies.
func newLoad(ctx context.Context, o *Config, now time.Time) (l *load, err error) {
	if o.Trace != "" {
		l, err = userLoad(ctx, o, now)
	} else {
		all := ownLoads()
		l, err = all[slices.Index(loadNames(), o.Load)].open()
	}
	if err != nil {
		return nil, err
	}
	l.lead = cmp.Or(o.LeadTime, DefaultLeadTime)
	if step := l.step(); leadtime.Window(l.lead) < step {
		return nil, fmt.Errorf("--lead-time %s is too short for steps of %s: write %s or more", humanize.Span(l.lead),
			humanize.Span(step), humanize.Span(step))
	}
	return l, nil
}

// userLoad reads the user's trace.
func userLoad(ctx context.Context, o *Config, now time.Time) (*load, error) {
	from := history.Options{Trace: o.Trace, Column: o.Column, TrustInput: true}
	read, err := history.Read(ctx, &from, o.Stdin, now, nil)
	if err != nil {
		return nil, err
	}
	if read.FromZero {
		read.Start = now.Truncate(day).Add(-time.Duration(read.Len()) * read.Step).Truncate(read.Step)
	}
	played, err := newPlayback(read.Series)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", read.Source, err)
	}
	l := &load{
		playback: played, name: "trace", target: o.Target, rise: largestRise(read.Series),
		about: append([]string{read.Source + ": " + span(read.Series)}, read.Notes...),
	}
	if l.target == 0 {
		l.target = assumedTarget(read.Values)
		l.about = append(l.about, fmt.Sprintf(
			"a replica is assumed to sustain %s, a tenth of the highest demand; write what yours sustains as --target",
			humanize.Number(l.target),
		))
	}
	return l, nil
}

// assumedTarget returns a tenth of the highest value, rounded to thousandths as in a manifest.
func assumedTarget(values []float64) float64 {
	highest := 0.0
	for _, v := range values {
		if v > highest { // This is false for NaN.
			highest = v
		}
	}
	return math.Ceil(100*highest) / 1000
}

// span describes a trace's length and step: "14 days in steps of a minute".
func span(s forecast.Series) string {
	return recorded.FormatSpan(time.Duration(s.Len())*s.Step) + " in steps of " + recorded.FormatSpan(s.Step)
}

// beforeRise is how long before the rise a demo begins, in real time.
const beforeRise = 25 * time.Second

// begin returns the time at which the demo begins.
func (l *load) begin(speed float64) time.Time {
	at := l.rise.Add(-time.Duration(float64(beforeRise) * speed)).Truncate(l.Step)
	if least := l.TimeAt(l.Len() / 4); at.Before(least) { // A forecast needs history.
		return least
	}
	return at
}

// namespace is the namespace of the demo's Forecast and series.
const namespace = "demo"

// forecastYAML is the Forecast of the demo in the form in which a user would write it.
const forecastYAML = `apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: %[1]s, namespace: demo}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}
  signal: {query: 'sum(demo_demand{namespace="demo"})'}
  objective: {badHours: "1%%", wait: 30s}
  scaling: {target: "%[2]s"}
  leadTime: {mode: Fixed, duration: %[5]s}
  step: %[3]s
  history: %[4]s
`

// Limits of the Forecast for a user's trace. They are within the limits of any Forecast (see package [manifest]).
const (
	minStep, maxStep       = time.Second, 5 * time.Minute
	minHistory, maxHistory = 30 * time.Minute, 14 * day
	maxPoints              = 100_000
)

// step returns the step of the Forecast: the trace's own step, within the limits of a Forecast.
func (l *load) step() time.Duration { return min(maxStep, max(minStep, l.Step.Round(time.Second))) }

// manifest returns the Forecast of the load. It has the trace's step, and a history that is as long as the trace allows and a Forecast may
// use.
func (l *load) manifest(begin time.Time) string {
	step := l.step()
	past := begin.Sub(l.Start).Round(step)
	used := max(minHistory, min(past, maxHistory, maxPoints*step))
	return fmt.Sprintf(forecastYAML, l.name, strconv.FormatFloat(l.target, 'f', -1, 64), model.Duration(step),
		model.Duration(used), model.Duration(l.lead))
}
