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
	"github.com/forewarm/forewarm/pkg/agent/history"
)

// helpless is how long a fault that only a new container mends may last before the agent asks for one.
const helpless = 5 * time.Minute

// Handler serves /metrics, /healthz and /history.
func Handler(
	board *collect.Board, registry *prometheus.Registry, stale time.Duration, now func() time.Time,
) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true,
		// One series that is wrong must not hide the others.
		ErrorHandling: promhttp.ContinueOnError,
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if ill := illness(board.Load(), stale, now()); ill != "" {
			http.Error(w, ill, http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ok\n") //nolint:errcheck // Whoever asked is gone.
	})
	mux.HandleFunc("GET /history", func(w http.ResponseWriter, r *http.Request) {
		extra, err := labelsFrom(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		var hour history.Hour
		if picture := board.Load(); picture != nil {
			hour = picture.Hour
		}
		WriteHistory(w, hour, extra) //nolint:errcheck // Whoever asked is gone.
	})
	return mux
}

// illness is why the agent's container should be made anew; empty where it should not: a GPU or a driver that is gone is
// nothing that a new container brings back.
func illness(p *collect.Picture, stale time.Duration, now time.Time) string {
	switch {
	case p == nil:
		return "nothing was read yet"
	case now.Sub(p.Time) > stale:
		return fmt.Sprintf("the driver has not answered for %v", now.Sub(p.Time).Round(time.Second))
	case p.Fault.NeedsNewContainer() && now.Sub(p.Since) > helpless:
		return p.Fault.Message
	default:
		return ""
	}
}

// label is one of a series; empty without a value, as then it is none.
func label(name, value string) string {
	if value == "" {
		return ""
	}
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// labelsFrom takes every parameter of a query for a label, so that what is written joins the series that a Prometheus has:
// ?job=forewarm-agent&instance=10.0.0.7:9401.
func labelsFrom(query url.Values) ([]string, error) {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !model.LegacyValidation.IsValidLabelName(name) || strings.HasPrefix(name, "__"):
			return nil, fmt.Errorf("%q is no label's name: want letters, digits and underscores", name)
		case slices.Contains(ofPod(), name):
			return nil, fmt.Errorf("the label %s is the series' own", name)
		case len(query[name]) != 1:
			return nil, fmt.Errorf("the label %s is given %d times", name, len(query[name]))
		}
		out = append(out, label(name, query.Get(name)))
	}
	return out, nil
}

// WriteHistory writes an hour as OpenMetrics: each point at the end of its step, in the order of series.
func WriteHistory(to io.Writer, hour history.Hour, extra []string) error {
	var text bytes.Buffer
	named := means()
	for _, m := range history.Measures() {
		is := named[m]
		fmt.Fprintf(&text, "# TYPE %s gauge\n# HELP %[1]s %s\n", is.name, is.help)
		for _, l := range hour.Lines {
			if l.Series.Measure != m {
				continue
			}
			writeLine(&text, is, l, extra)
			if _, err := text.WriteTo(to); err != nil {
				return err
			}
		}
	}
	text.WriteString("# EOF\n")
	_, err := text.WriteTo(to)
	return err
}

func writeLine(out *bytes.Buffer, is metric, l history.Line, extra []string) {
	// A value for each of ofPod; ofDevice are the last of them.
	s := l.Series
	values := []string{s.Namespace, s.Pod, s.Container, s.UUID, s.Instance}
	values = values[len(values)-len(is.labels):]
	labels := make([]string, 0, len(values)+len(extra))
	for i, name := range is.labels {
		labels = append(labels, label(name, values[i]))
	}
	labels = slices.DeleteFunc(append(labels, extra...), func(l string) bool { return l == "" })
	start := is.name + "{" + strings.Join(labels, ",") + "} "
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
