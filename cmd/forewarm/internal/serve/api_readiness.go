package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"unicode"

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
	fmt.Fprintln(w, strings.Join(lines, "\n"))
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
