package apiserver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/run"
)

// readyz is the path of the readiness check.
const readyz = "/readyz"

// readiness adds /readyz to a handler: our checks and the API server's, one on each line, with the reason of each
// failure. (The API server's own /readyz withholds reasons.) Like all paths it requires authorization.
func readiness(checks []run.Check, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path != readyz {
			api.ServeHTTP(w, request)
			return
		}
		serveReadiness(w, request, checks, api)
	})
}

func serveReadiness(w http.ResponseWriter, request *http.Request, checks []run.Check, api http.Handler) {
	lines, ready := runChecks(checks)
	theirs := httptest.NewRecorder()
	verbose := request.Clone(request.Context())
	verbose.URL.RawQuery = "verbose"
	api.ServeHTTP(theirs, verbose)
	if theirs.Code != http.StatusOK {
		ready = false
	}
	for line := range strings.Lines(theirs.Body.String()) {
		if strings.HasPrefix(line, "[") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
		lines = append(lines, "readyz check failed")
	} else {
		lines = append(lines, "readyz check passed")
	}
	io.WriteString(w, strings.Join(lines, "\n")+"\n") //nolint:errcheck // The client is gone.
}

// runChecks returns a line for each of our checks, and whether all pass.
func runChecks(checks []run.Check) (lines []string, ready bool) {
	ready = true
	for _, check := range checks {
		if err := check.Run(); err != nil {
			ready = false
			lines = append(lines, fmt.Sprintf("[-]%s failed: %s", check.Name, oneLine(err.Error())))
			continue
		}
		lines = append(lines, fmt.Sprintf("[+]%s ok", check.Name))
	}
	return lines, ready
}

// oneLine keeps a reason on its line.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// historyPatience is how long a new adapter replica waits for histories before it serves what it has.
const historyPatience = 10 * time.Minute

// HistoryCheck passes once no Forecast waits for its history, and none has only a part of it while another adapter replica serves; at
// the latest after ten minutes. Until then the error has the progress. A source that does not answer is waited for: the adapter replica
// that this one replaces serves meanwhile. A query that is wrong is not. From then on it passes always: a Forecast that is new, or whose
// source hangs, must not take the values of all others away.
func HistoryCheck(snapshots *snapshot.Store, now func() time.Time, anotherServes func() bool) run.Check {
	var (
		mu     sync.Mutex
		began  time.Time
		passed bool
	)
	return run.Check{Name: "history", Run: func() error {
		mu.Lock()
		defer mu.Unlock()
		s := snapshots.Load()
		switch {
		case passed:
			return nil
		case s == nil:
			return errors.New("the first refresh is under way")
		case began.IsZero():
			began = now()
		}
		waits := s.Pending > 0 || s.Partial > 0 && anotherServes()
		if passed = !waits || now().Sub(began) >= historyPatience; passed {
			return nil
		}
		all := len(s.Keys())
		if s.Pending > 0 {
			return fmt.Errorf("%d of %d Forecasts have history", all-s.Pending, all)
		}
		return fmt.Errorf("%d of %d Forecasts have their whole history, and another adapter replica serves meanwhile",
			all-s.Partial, all)
	}}
}
