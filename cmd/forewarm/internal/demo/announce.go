package demo

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"time"

	outlooks "github.com/forewarm/forewarm/cmd/forewarm/internal/inspect"
	api "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// announcer prints the demo's progress.
type announcer struct {
	out     io.Writer
	options Config
	load    *load
	life    run.WallClock
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
			fmt.Fprintf(a.out, "The browser could not be opened (%v): open the page yourself.\n\n", err)
		}
	}
	a.follow(ctx, key, snapshots, now)
	return nil
}

// printClock prints the demo's time, and what to wait for.
func (a *announcer) printClock(now *clock) {
	at := now.Now()
	a.print("Clock", "%s UTC, %v times as fast as real time (--speed 1 is real time)",
		at.UTC().Format("Mon 2 Jan 2006 15:04"), now.speed)
	in := time.Duration(float64(a.load.rise.Sub(at)) / now.speed)
	if in > 0 {
		a.print("Rise", "the demand begins to rise at %s, in %s; a replica sustains %s and takes %s to start",
			a.load.rise.UTC().Format(clockTime), in.Round(time.Second), humanize.Number(a.load.target),
			humanize.Span(a.load.lead))
	}
}

// clockTime is the format for times of the demo's clock.
const clockTime = "15:04"

// follow prints how many replicas Forewarm requests and how many the demand needs while the demand rises. After the first rise, it prints
// the race.
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
				a.printRules(ctx, published.Time)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// replicas returns how many replicas a demand needs.
func (a *announcer) replicas(demand float64) int { return max(1, int(math.Ceil(demand/a.load.target))) }

// raceLength is how much of the race is printed: the end of the night, and the rise.
const raceLength = 6 * time.Hour

// printRace prints the race and whether the objective is met, or why no value is served.
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

  # The metric as an HPA reads it, then with a selector that chooses another quantile and another horizon
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

// browser returns the command that opens a page in the user's browser.
func browser(system, url string) []string {
	switch system {
	case "darwin":
		return []string{"open", url}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	return []string{"xdg-open", url}
}

// openPage runs the command. If it still runs after some seconds, it is the browser itself, which may outlive the demo.
func openPage(ctx context.Context, command []string) error {
	const patience = 5 * time.Second
	browser := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...) //nolint:gosec // Of browser.
	if err := browser.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- browser.Wait() }()
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case err := <-ended:
		return err
	case <-limit.Done():
		return nil
	}
}

// moment is a number of replicas at a time.
type moment struct {
	at       time.Time
	replicas int
}

// rise follows the requested replicas and the replicas that the demand needs. It records each number only when it reaches a new maximum.
type rise struct {
	// since[n-1] is when n replicas were first requested; zero if they were requested at the beginning.
	since []time.Time
	// first and most are the replicas that the demand needed at the beginning, and at most.
	first, most moment
}

// observe adds the requested and the needed replicas, and returns a line for each new maximum.
func (r *rise) observe(asked, needed moment) (lines []string) {
	if r.most.replicas == 0 {
		r.first, r.most, r.since = needed, needed, make([]time.Time, asked.replicas)
		return nil
	}
	if more := asked.replicas - len(r.since); more > 0 {
		r.since = append(r.since, slices.Repeat([]time.Time{asked.at}, more)...)
		lines = append(lines,
			fmt.Sprintf("Forewarm asks for %d replicas; the demand needs %d", asked.replicas, needed.replicas))
	}
	if needed.replicas > r.most.replicas {
		r.most = needed
		lines = append(lines, r.needs(asked.replicas))
	}
	return lines
}

// needs says how long before the demand needed the replicas they were requested.
func (r *rise) needs(asked int) string {
	text := fmt.Sprintf("the demand needs %d replicas", r.most.replicas)
	if len(r.since) < r.most.replicas {
		return fmt.Sprintf("%s; Forewarm asks for %d: it did not foresee this rise", text, asked)
	}
	since := r.since[r.most.replicas-1]
	ahead := r.most.at.Sub(since)
	switch {
	case since.IsZero():
		return text + "; Forewarm asked for them from the start"
	case ahead <= 0:
		return text + ", which Forewarm asks for only now: it did not foresee this rise"
	}
	return fmt.Sprintf("%s; Forewarm asked for them %s earlier", text, humanize.Span(ahead))
}

// over reports whether the demand has risen by at least half, and has not risen further for a while.
func (r *rise) over(now time.Time) bool {
	const pause = 10 * time.Minute
	return 2*r.most.replicas >= 3*r.first.replicas && r.most.replicas > r.first.replicas && now.Sub(r.most.at) >= pause
}
