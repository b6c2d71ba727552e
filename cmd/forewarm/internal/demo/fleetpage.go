package demo

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/report"
)

// runFleet plays the demo's fleet, prints a day, and serves the day's page until the context ends.
func runFleet(ctx context.Context, o Config, out io.Writer, bar *cmdline.ProgressBar) error {
	listener, err := listen(ctx, o.Port)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Playing two workloads and batch runs of %s on %d GPUs for two weeks.\n\n",
		humanize.Span(fleetRun), fleetGPUs)
	d, err := playFleet(ctx, bar)
	var page []byte
	if err == nil {
		page, err = d.page()
	}
	if ctx.Err() != nil || err != nil {
		if ctx.Err() != nil {
			err = nil // The user interrupted it, which is not a failure.
		}
		return errors.Join(err, listener.Close())
	}
	width, _ := cmdline.Columns(out, cmdline.Page)
	url := "http://" + listener.Addr().String()
	fmt.Fprintf(out, "%s\nServing    %s, the page of this day. Ctrl-C ends the demo.\n",
		report.Text(d.sections(), width), url)
	if o.Open {
		if err := openPage(ctx, browser(runtime.GOOS, url)); err != nil {
			fmt.Fprintf(out, "The browser could not be opened (%v): open the page yourself.\n", err)
		}
	}
	return servePage(ctx, listener, page)
}

// servePage serves a page until the context ends.
func servePage(ctx context.Context, listener net.Listener, page []byte) error {
	const patience = 10 * time.Second
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page) //nolint:errcheck // A client that is gone cannot be told.
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience, WriteTimeout: patience}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() //nolint:errcheck // It ends.
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

//go:embed fleet.html
var fleetSource string

//nolint:gochecknoglobals // Parsed once.
var fleetTemplate = template.Must(report.Templates().New("fleet").Parse(fleetSource))

// page returns the day as an HTML page without outside resources.
func (d *fleetDay) page() ([]byte, error) {
	drawing, err := d.chart().SVG()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = fleetTemplate.Execute(&out, map[string]any{
		"Style": chart.Style(), "Title": d.title(), "Chart": drawing, "Sections": d.sections(), "GPUs": fleetGPUs,
	})
	return out.Bytes(), err
}

// chart draws the GPUs of the members and of batch runs on top of them over the day, the last starts before the members' peak, and when runs
// were killed.
func (d *fleetDay) chart() *chart.Chart {
	const tall, across = 340, 1080
	seconds := func(at time.Time) float64 { return at.Sub(d.start).Seconds() }
	var bottom, members, used []chart.Point
	var killed []float64
	for i := range d.moments {
		m := &d.moments[i]
		at := seconds(m.At)
		bottom = append(bottom, chart.Point{X: at})
		members = append(members, chart.Point{X: at, Y: m.Members})
		used = append(used, chart.Point{X: at, Y: m.Members + m.Batch})
		if m.Killed > 0 {
			killed = append(killed, at)
		}
	}
	c := &chart.Chart{
		X: chart.TimeAxis(d.start, 0, day.Seconds()), Y: chart.NumberAxis(0, fleetGPUs*1.06),
		Tall: tall, Across: across, Up: tall, ID: "day", Title: d.title(), Description: d.sentences()[0],
	}
	c.X.Label, c.Y.Label = "time of day (UTC)", "GPUs"
	c.Area("idle", members, used)
	c.Area("demand", bottom, members)
	c.Line("paid", chart.Point{Y: fleetGPUs}, chart.Point{X: day.Seconds(), Y: fleetGPUs})
	last, _, _ := d.ramp()
	at := seconds(last.At)
	c.Line("now", chart.Point{X: at}, chart.Point{X: at, Y: fleetGPUs})
	c.Note("words", chart.Point{X: at, Y: fleetGPUs / 2}, "last starts before the ramp ", true)
	c.Rug("mark", killed...)
	return c
}
