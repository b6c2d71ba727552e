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

// readiness adds /readyz to a handler. It runs our checks and the API server's checks, one on each line, with the reason for each failure.
// (The API server's own /readyz does not show reasons.) Like all paths, it requires authorization.
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

// oneLine puts a reason on a single line.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// historyPatience is how long a new adapter replica waits for histories before it serves with what it has.
const historyPatience = 10 * time.Minute

// HistoryCheck passes when no Forecast waits for its history. While another adapter replica serves, all Forecasts must also have their
// whole history. It passes after ten minutes in any case. Until then, the error describes the progress. The check waits for a source that
// does not answer, because the adapter replica that this one replaces serves in the meantime. It does not wait for an invalid query. Once
// the check has passed, it always passes: a new Forecast, or one whose source hangs, must not remove the values of all others.
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
			return errors.New("the first refresh is in progress")
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
		return fmt.Errorf("%d of %d Forecasts have their whole history; another adapter replica serves in the meantime",
			all-s.Partial, all)
	}}
}
