package cli_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// A watch prints what there is, then a line for each change, and no more than that. It goes on after an error, and ends with
// its context.
//
//nolint:dupword // Columns, and names again.
func TestInspectWatches(t *testing.T) {
	step := func(entry func(snapshot.Key) *snapshot.ForecastSnapshot, name string) *snapshot.ForecastSnapshot {
		e := entry(snapshottest.Key(name))
		e.Step = time.Millisecond // It reads each second.
		return e
	}
	a, b := step(snapshottest.Ready, "a"), step(snapshottest.WithObjective, "b")
	reads := []http.Handler{
		serveOutlooks(a, b), http.NotFoundHandler(), serveOutlooks(step(snapshottest.Stale, "a"), b),
		serveOutlooks(b),
	}
	for _, c := range []struct{ form, want string }{
		{"wide", `NAMESPACE NAME STATE NOW SERVED UNIT ASKED LATE LEAD MODEL SKILL COVERAGE DATA AGE AGE WINDOW HEADROOM REASON
inference a Ready 120.3 139.2 requests/s quantile 0.95 - 5m0s arima +18.4% 95.3% 30s 9d 6m15s - the 0.95 quantile of the window peak is 139.236
inference b Ready 120.3 143.2 requests/s 1% late 0.62% 5m0s arima +18.4% 95.3% 30s 9d 6m15s 1.3 the forecast peak within the lead window is 126.1, plus 17.1 headroom for past forecast errors: 143.2 in total (4 replicas at 40 each)
NAMESPACE NAME STATE NOW SERVED UNIT ASKED LATE LEAD MODEL SKILL COVERAGE DATA AGE AGE WINDOW HEADROOM REASON
inference a Stale 120.3 - requests/s quantile 0.95 - 5m0s - +18.4% 95.3% 42m 9d 6m15s - Stale: the newest sample is 42m old, served are 10m
NAMESPACE NAME STATE NOW SERVED UNIT ASKED LATE LEAD MODEL SKILL COVERAGE DATA AGE AGE WINDOW HEADROOM REASON
inference a Deleted 120.3 - requests/s quantile 0.95 - 5m0s - +18.4% 95.3% 42m 9d 6m15s - Stale: the newest sample is 42m old, served are 10m
`},
		{"name", "outlook.inspect.forewarm.dev/a\noutlook.inspect.forewarm.dev/b\noutlook.inspect.forewarm.dev/a\noutlook.inspect.forewarm.dev/a\n"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		n := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n == len(reads) {
				cancel()
				return
			}
			reads[n].ServeHTTP(w, r)
			n++
		}))
		var out, messages bytes.Buffer
		code := program.Run(ctx, []string{"inspect", "--server", server.URL, "-w", "-o", c.form}, &out, &messages)
		cancel()
		server.Close()
		got := regexp.MustCompile(` {2,}`).ReplaceAllString(out.String(), " ")
		if diff := cmp.Diff(c.want, got); diff != "" || code != 0 || n != len(reads) {
			t.Errorf("-o %s: exit code %d after %d reads, (-want +got)\n%s", c.form, code, n, diff)
		}
		if want := "answers 404 Not Found"; bytes.Count(messages.Bytes(), []byte(want)) != 1 {
			t.Errorf("-o %s: messages %q, want one with %q", c.form, messages.String(), want)
		}
	}
}
