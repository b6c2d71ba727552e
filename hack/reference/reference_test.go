package reference_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/hack/reference"
)

func TestMetricsAreListed(t *testing.T) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "forewarm_sent_total", Help: `With "quotes", a | and a } in it.`,
	}, []string{"x", "y"})
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "forewarm_age", Help: "One.", ConstLabels: prometheus.Labels{"version": "1", "arch": "z"},
	})
	var page strings.Builder
	err := reference.WriteMetrics(&page, reference.Section{
		Title: "T", Text: "Words.", Collectors: []prometheus.Collector{counter, gauge},
	})
	const want = "\n## T\n\nWords.\n\n| metric | type | labels | |\n|---|---|---|---|\n" +
		"| `forewarm_age` | gauge | `arch`, `version` | One. |\n" +
		"| `forewarm_sent_total` | counter | `x`, `y` | With \"quotes\", a \\| and a } in it. |\n"
	if err != nil || page.String() != want {
		t.Fatalf("the page is (%v)\n%swant\n%s", err, page.String(), want)
	}
	served := "# TYPE forewarm_age gauge\nforewarm_age 1\n# TYPE forewarm_sent_total gauge\n# TYPE forewarm_rest gauge\n# TYPE go_x gauge\n"
	if got := strings.Join(reference.Unlisted(page.String(), served),
		","); got != "forewarm_sent_total gauge,forewarm_rest gauge" {
		t.Errorf("unlisted are %q", got)
	}
}
