package simulate_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/simulate"
)

// What cannot be a demand is said first. There are figures then, no verdict, and the exit code of a failure; unless the input is trusted.
func TestWhatIsNoDemandGetsNoVerdict(t *testing.T) {
	var counter strings.Builder
	counter.WriteString("t,requests\n")
	for i := range 2 * 1440 {
		fmt.Fprintf(&counter, "%d,%d\n", 1760918400+60*i, 2000+37*i)
	}
	trace, hpa := write(t, "counter.csv", counter.String()), write(t, "hpa.yaml", scales)
	const doubt = "The values are from a counter, which only grows, so they are not demand. Use its rate instead: sum(rate(…[2m]))."
	const understood = "counter.csv, column requests: 2 days from 2025-10-20 00:00 UTC, every minute, 2,880 values " +
		"from 2000 to 108523"
	for name, args := range map[string][]string{
		"with an autoscaler": {"--hpa", hpa}, "its forecasts": {"--forecasts"}, "as JSON": {"--hpa", hpa, "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, trusted := range []bool{false, true} {
				all := append([]string{"--trace", trace, "--lead-time", "2m"}, args...)
				if trusted {
					all = append(all, "--trust-input")
				}
				var out, messages bytes.Buffer
				err := simulate.Run(t.Context(), &out, &messages, all...)
				told := strings.Contains(strings.Join(strings.Fields(out.String()), " "), doubt)
				if trusted {
					if told {
						t.Error("the doubt is said, although the input is trusted")
					}
					continue
				}
				if err == nil || cmdline.ExitCode(err) != 1 || !strings.Contains(err.Error(), "--trust-input") {
					t.Errorf("%v", err)
				}
				if !told || out.Len() < 500 {
					t.Errorf("%t that the doubt is said, in\n%s", told, out.String())
				}
				if !strings.Contains(messages.String(), understood) {
					t.Errorf("it is not said what was understood: %s", messages.String())
				}
			}
		})
	}
}
