package simulate_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/simulate"
	"github.com/forewarm/forewarm/pkg/source/recorded/recordedtest"
)

// Interrupted half-way, the accuracy of forecasts is that until then, marked, with the exit code of an interruption. The report
// on an autoscaler that was finished is printed, too.
func TestForecastsInterrupted(t *testing.T) {
	var load strings.Builder
	load.WriteString("t,load\n")
	for i := range 3000 {
		at := time.Unix(int64(60*i), 0)
		fmt.Fprintf(&load, "%d,%g\n", at.Unix(), recordedtest.Hourly(at))
	}
	trace, hpa := write(t, "load.csv", load.String()), write(t, "hpa.yaml", scales)
	for _, c := range []struct {
		about, when string
		args, wants []string
	}{
		{"alone", ": 50 %", nil, []string{"5m, last-value¹ ", "Interrupted before the end of the history."}},
		{"before anything", "reading load.csv", nil, nil},
		{
			"with an autoscaler", "forecasts by ",
			[]string{"--hpa", hpa},
			[]string{"hpa-best-target¹ ", "oracle¹ ", "Interrupted: the figures are correct"},
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.wants == nil {
				cancel()
			}
			var out bytes.Buffer
			err := simulate.Run(ctx, &out, &stopping{word: c.when, cancel: cancel},
				append(c.args, "--forecasts", "--trace", trace)...)
			if err == nil || !strings.Contains(err.Error(), "interrupted") ||
				cmdline.ExitCode(err) != cmdline.Interrupted {
				t.Errorf("%v with exit code %d", err, cmdline.ExitCode(err))
			}
			for _, want := range c.wants {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not said:\n%s", want, out.String())
				}
			}
			if c.wants == nil && out.Len() > 0 {
				t.Errorf("it prints %s", out.String())
			}
		})
	}
}
