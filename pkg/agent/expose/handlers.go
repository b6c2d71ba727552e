package expose

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/agent/collect"
)

// restartAfter is how long a fault that only a new container can fix may last before /healthz fails.
const restartAfter = 5 * time.Minute

// Handler serves /metrics, /healthz and /collect.
func Handler(
	board *collect.Board, registry *prometheus.Registry, stale time.Duration, now func() time.Time,
) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true,
		// One invalid series must not hide the others.
		ErrorHandling: promhttp.ContinueOnError,
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if ill := unhealthyReason(board.Load(), stale, now()); ill != "" {
			http.Error(w, ill, http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ok\n") //nolint:errcheck // The client is gone.
	})
	mux.HandleFunc("GET /history", func(w http.ResponseWriter, r *http.Request) {
		extra, err := labelsFrom(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		var hour collect.Hour
		if picture := board.Load(); picture != nil {
			hour = picture.Hour
		}
		WriteHistory(w, hour, extra) //nolint:errcheck // The client is gone.
	})
	return mux
}

// unhealthyReason says why the agent's container should be restarted. It is empty if a restart would not help: a restart brings back
// neither a lost GPU nor a missing driver.
func unhealthyReason(p *collect.Picture, stale time.Duration, now time.Time) string {
	switch {
	case p == nil:
		return "no reading yet"
	case now.Sub(p.Time) > stale:
		return fmt.Sprintf("the driver has not answered for %v", now.Sub(p.Time).Round(time.Second))
	case p.Fault.NeedsNewContainer() && now.Sub(p.Since) > restartAfter:
		return p.Fault.Message
	}
	return ""
}

// label formats NAME="VALUE" for a series. It is empty without a value, which has the same meaning as no label.
func label(name, value string) string {
	if value == "" {
		return ""
	}
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// labelsFrom converts every parameter of a query to a label, so that the points join the series that a Prometheus already has:
// ?job=forewarm-agent&instance=10.0.0.7:9401.
func labelsFrom(query url.Values) ([]string, error) {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !model.LegacyValidation.IsValidLabelName(name) || strings.HasPrefix(name, "__"):
			return nil, fmt.Errorf("%q is not a label name: write letters, digits and underscores", name)
		case slices.Contains(podLabels(), name):
			return nil, fmt.Errorf("the series already have a label %s: leave it out", name)
		case len(query[name]) != 1:
			return nil, fmt.Errorf("the label %s is given %d times: write it once", name, len(query[name]))
		}
		out = append(out, label(name, query.Get(name)))
	}
	return out, nil
}

// WriteHistory writes an hour as OpenMetrics, in the order of series. Each point has the time of its step's end.
func WriteHistory(to io.Writer, hour collect.Hour, extra []string) error {
	var text bytes.Buffer
	all := metrics()
	for _, m := range collect.Measures() {
		name := meanName(m)
		is := all[name]
		fmt.Fprintf(&text, "# TYPE %s gauge\n# HELP %[1]s %s\n", name, is.help)
		for _, l := range hour.Lines {
			if l.Series.Measure != m {
				continue
			}
			writeLine(&text, name, is.labels, l, extra)
			if _, err := text.WriteTo(to); err != nil {
				return err
			}
		}
	}
	text.WriteString("# EOF\n")
	_, err := text.WriteTo(to)
	return err
}

func writeLine(out *bytes.Buffer, metric string, names []string, l collect.Line, extra []string) {
	// There is a value for each label of podLabels. The last ones are those of deviceLabels.
	s := l.Series
	values := []string{s.Namespace, s.Pod, s.Container, s.UUID, s.Instance}
	values = values[len(values)-len(names):]
	labels := make([]string, 0, len(values)+len(extra))
	for i, name := range names {
		labels = append(labels, label(name, values[i]))
	}
	labels = slices.DeleteFunc(append(labels, extra...), func(l string) bool { return l == "" })
	start := metric + "{" + strings.Join(labels, ",") + "} "
	point := make([]byte, 0, 64)
	for i, mean := range l.Means {
		if math.IsNaN(float64(mean)) {
			continue
		}
		point = append(strconv.AppendFloat(point[:0], float64(mean), 'g', -1, 32), ' ')
		point = append(strconv.AppendInt(point, l.End(i).Unix(), 10), '\n')
		out.WriteString(start)
		out.Write(point)
	}
}
