package demo

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/outlooks"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	api "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// announcer prints the demo's progress.
type announcer struct {
	out     io.Writer
	options Options
	load    *load
	life    serve.WallClock
	started time.Time
}

// print prints one line.
func (a *announcer) print(verb, format string, args ...any) {
	fmt.Fprintf(a.out, "%-10s %s\n", verb, fmt.Sprintf(format, args...))
}

// announce waits until the server is ready, prints what is served and what to try, and follows the demand until the context ends.
func (a *announcer) announce(ctx context.Context, url string, snapshots *snapshot.Store, now *clock) error {
	const pause = 100 * time.Millisecond
	for !answersReady(ctx, url+"/readyz") {
		if err := a.life.WaitUntil(ctx, a.life.Now().Add(pause)); err != nil {
			return nil //nolint:nilerr // The context ended before anything was ready.
		}
	}
	key := snapshot.Key{Namespace: namespace, Name: a.load.name}
	outlook := inspect.Outlook(snapshots.Load().Get(key), now.Now())
	a.print("Serving", "%s, %.1f s after the start", url, a.life.Now().Sub(a.started).Seconds())
	a.printClock(now)
	fmt.Fprintln(a.out)
	if err := outlooks.Table(a.out, []api.Outlook{outlook}, now.Now()); err != nil {
		return err
	}
	a.printRace(&outlook)
	page := fmt.Sprintf("%s/apis/inspect.forewarm.dev/v1alpha1/namespaces/%s/outlooks/%s/page", url, namespace,
		key.Name)
	fmt.Fprintf(a.out, invitation, url, namespace, key.Name, a.options.Program, page)
	if a.options.Open {
		if err := openPage(ctx, browser(runtime.GOOS, page)); err != nil {
			fmt.Fprintf(a.out, "The browser does not open (%v): open the page yourself.\n\n", err)
		}
	}
	a.follow(ctx, key, snapshots, now)
	return nil
}

// printClock prints the demo's time, and what to wait for.
func (a *announcer) printClock(now *clock) {
	at := now.Now()
	a.print("Clock", "%s UTC, %v times as fast as life: --speed 1 is life", at.UTC().Format("Mon 2 Jan 2006 15:04"),
		now.speed)
	in := time.Duration(float64(a.load.rise.Sub(at)) / now.speed)
	if in > 0 {
		a.print("Rise", "the demand begins to rise at %s, in %s; a replica sustains %s and takes 5m to start",
			a.load.rise.UTC().Format(clockTime), in.Round(time.Second), humanize.Number(a.load.target))
	}
}

// clockTime is how times of the demo's clock are written.
const clockTime = "15:04"

// follow prints what Forewarm asks for and what the demand needs while the demand rises, and the race after the first rise.
func (a *announcer) follow(ctx context.Context, key snapshot.Key, snapshots *snapshot.Store, now *clock) {
	r, told := &rise{}, false
	for {
		published, changed := snapshots.Watch()
		outlook := inspect.Outlook(published.Get(key), now.Now())
		if s := &outlook.Status; s.Served != nil && s.Observed != nil && s.SampleTime != nil {
			lines := r.observe(moment{at: published.Time.Truncate(s.Step.Duration), replicas: a.replicas(*s.Served)},
				moment{at: s.SampleTime.Time, replicas: a.replicas(*s.Observed)})
			for _, line := range lines {
				a.print(published.Time.UTC().Format(clockTime), "%s", line)
			}
			if !told && r.over(published.Time) {
				told = true
				a.printRace(&outlook)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// replicas are how many serve a demand.
func (a *announcer) replicas(demand float64) int { return max(1, int(math.Ceil(demand/a.load.target))) }

// raceLength is how much of the race is printed: the end of the night, and the rise.
const raceLength = 6 * time.Hour

// printRace prints the race and how the objective is kept, or why nothing is served.
func (a *announcer) printRace(o *api.Outlook) {
	if o.Status.Served == nil {
		fmt.Fprintf(a.out, "\n%s/%s is not served: %s\n\n", o.Namespace, o.Name, o.Status.Reason)
	}
	if met := o.Status.Objective; met != nil {
		outlooks.Race(a.out, &o.Status, raceLength)
		fmt.Fprintf(a.out, "\n%s: %s\n\n", met.Verdict, met.Message)
	}
}

const invitation = `Try from another terminal:

  # The metric as an HPA reads it, and with a selector: another quantile at another horizon
  curl -s %[1]s/apis/external.metrics.k8s.io/v1beta1/namespaces/%[2]s/%[3]s
  curl -sG %[1]s/apis/external.metrics.k8s.io/v1beta1/namespaces/%[2]s/%[3]s --data-urlencode labelSelector=quantile=0.99,horizon=10m

  # Its outlook (demand, forecast, models), as JSON, and as text with a chart
  curl -s %[1]s/apis/inspect.forewarm.dev/v1alpha1/namespaces/%[2]s/outlooks/%[3]s
  %[4]s inspect --server %[1]s %[2]s/%[3]s

  # All Forecasts in a browser, and the page of this one
  %[1]s/
  %[5]s

Ctrl-C ends the demo and removes its data.

`

func answersReady(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
