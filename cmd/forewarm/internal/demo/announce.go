package demo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/inspectcmd"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	api "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// announcer prints the demo's progress.
type announcer struct {
	out     io.Writer
	clock   server.Clock
	started time.Time
	// program is the name by which the user started forewarm.
	program string
}

// print prints one line.
func (a *announcer) print(verb, format string, args ...any) {
	fmt.Fprintf(a.out, "%-10s %s\n", verb, fmt.Sprintf(format, args...))
}

// announce waits until the server is ready, prints what is served and what to try, and returns when the context ends.
func (a *announcer) announce(ctx context.Context, url string, board *snapshot.Board) error {
	const pause = 100 * time.Millisecond
	for !answersReady(ctx, url+"/readyz") {
		if err := a.clock.WaitUntil(ctx, a.clock.Now().Add(pause)); err != nil {
			return nil //nolint:nilerr // The context ended before anything was ready.
		}
	}
	now := a.clock.Now()
	var outlooks []api.Outlook
	for _, entry := range board.Load().Entries("") {
		outlooks = append(outlooks, inspect.Outlook(entry, now))
	}
	// The requests come before the GPUs: the more familiar Forecast first.
	slices.Reverse(outlooks)
	a.print("Serving", "%s, %.1f s after the start\n", url, now.Sub(a.started).Seconds())
	if err := inspectcmd.Table(a.out, outlooks, now); err != nil {
		return err
	}
	a.printObjectives(outlooks)
	a.printInvitation(url, outlooks)
	<-ctx.Done()
	return nil
}

// printObjectives prints how well the objectives are kept.
func (a *announcer) printObjectives(outlooks []api.Outlook) {
	for _, o := range outlooks {
		if fares := o.Status.Objective; fares != nil {
			fmt.Fprintf(
				a.out,
				"\n%s/%s: %s: %s\n%s\n",
				o.Namespace,
				o.Name,
				fares.Verdict,
				fares.Message,
				fares.Summary,
			)
		}
	}
}

// printInvitation prints which Forecasts are not served and why, and what to try on the first one that is.
func (a *announcer) printInvitation(url string, outlooks []api.Outlook) {
	fmt.Fprintln(a.out)
	tried := false
	for i := range outlooks {
		switch o := &outlooks[i]; {
		case o.Status.Served == nil:
			fmt.Fprintf(a.out, "%s/%s is not served: %s\n", o.Namespace, o.Name, o.Status.Reason)
		case !tried:
			tried = true
			fmt.Fprintf(a.out, invitation, url, o.Namespace, o.Name, a.program)
		}
	}
	fmt.Fprint(a.out, "\nCtrl-C ends the demo and removes its data.\n")
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
  %[1]s/apis/inspect.forewarm.dev/v1alpha1/namespaces/%[2]s/outlooks/%[3]s/page
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
