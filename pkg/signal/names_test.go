package signal_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal"
)

// listed is what a list says of a metric.
type listed struct {
	kind   string
	labels []string
}

// readNames is a source's list, by name.
func readNames(t *testing.T, source string) map[string]listed {
	t.Helper()
	text, err := os.ReadFile("names/" + source + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	list, sourced := map[string]listed{}, false
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if f[0] == "from" {
			sourced = true
			continue
		}
		if _, twice := list[f[0]]; !sourced || twice || len(f) < 2 {
			t.Fatalf("%s: %q: want NAME TYPE LABEL…, once, below the file that it was read in", source, line)
		}
		if !slices.Contains([]string{"gauge", "counter", "histogram"}, f[1]) {
			t.Errorf("%s: %s is a %s: want a gauge, counter or histogram", source, f[0], f[1])
		}
		list[f[0]] = listed{f[1], f[2:]}
	}
	return list
}

// added are the labels that scraping and its configuration give to a series.
func added() []string {
	return []string{
		"__name__", "namespace", "pod", "exported_namespace", "exported_pod", "instance", "job", "node", "container",
	}
}

// unlisted is how a query differs from a list: names, types and labels that are not there. What kube-state-metrics
// reports is left out.
func unlisted(t *testing.T, query string, list map[string]listed) []string {
	t.Helper()
	root, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	parser.Inspect(root, func(node parser.Node, path []parser.Node) error {
		s, ok := node.(*parser.VectorSelector)
		if !ok || strings.HasPrefix(s.Name, "kube_") || s.Name == "process_start_time_seconds" {
			return nil
		}
		over, read := use(path)
		if slices.ContainsFunc(path, func(n parser.Node) bool {
			a, ok := n.(*parser.AggregateExpr)
			return ok && (a.Op == parser.COUNT_VALUES || a.Op == parser.GROUP)
		}) {
			over = "last_over_time" // What tells the engines of a pod apart is compared, and not counted.
		}
		names := []string{s.Name}
		for _, m := range s.LabelMatchers {
			if read = append(read, m.Name); m.Name == "__name__" {
				names = strings.Split(m.Value, "|")
			}
		}
		var labels []string // A spelling has some of them.
		for _, name := range names {
			metric, problem := unlistedUse(list, name, over)
			labels, problems = append(labels, metric.labels...), append(problems, problem...)
		}
		for _, label := range read {
			label = strings.TrimPrefix(label, "exported_") // As a scrape without honorLabels renames it.
			if len(problems) == 0 && !slices.Contains(labels, label) && !slices.Contains(added(), label) {
				problems = append(problems, fmt.Sprintf("%s has no label %s", strings.Join(names, "|"), label))
			}
		}
		return nil
	})
	return problems
}

// unlistedUse is how the use of a name differs from a list.
func unlistedUse(list map[string]listed, name, over string) (metric listed, problems []string) {
	metric, known := find(list, name)
	native := list[name].kind == "histogram" && strings.HasPrefix(over, "histogram_")
	if !known && !native {
		return metric, []string{name + " is not in the list"}
	}
	cumulative := over == "rate" || over == "increase" || native
	if over != "last_over_time" && cumulative == (metric.kind == "gauge") {
		problems = append(problems, fmt.Sprintf("%s is a %s, read as %s(%[1]s)", name, metric.kind, over))
	}
	return metric, problems
}

// find is the metric that a series belongs to. A histogram has le, and no series of its own name.
func find(list map[string]listed, name string) (listed, bool) {
	if metric, ok := list[name]; ok {
		return metric, metric.kind != "histogram"
	}
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && list[base].kind == "histogram" {
			metric := list[base]
			metric.labels = slices.Concat(metric.labels, []string{"le"})
			return metric, true
		}
	}
	return listed{}, false
}

// use is the range function around a selector, and the labels by which the innermost aggregation groups it.
func use(path []parser.Node) (over string, by []string) {
	for _, node := range slices.Backward(path) {
		switch n := node.(type) {
		case *parser.Call:
			if over == "" || strings.HasPrefix(n.Func.Name, "histogram_") {
				over = n.Func.Name
			}
		case *parser.AggregateExpr:
			return over, slices.Clone(n.Grouping)
		}
	}
	return over, nil
}

// A name, a type or a label that a preset only imagines yields no series, and no one is told.
func TestPresetsReadWhatTheirSourcesReport(t *testing.T) {
	everywhere := map[string][]string{} // Several servers may have a metric of one engine.
	for _, s := range signal.Sources() {
		for name, metric := range readNames(t, s.Name) {
			everywhere[name] = append(everywhere[name], metric.labels...)
		}
	}
	for _, s := range signal.Sources() {
		list := readNames(t, s.Name)
		for name, metric := range list {
			list[name] = listed{metric.kind, everywhere[name]}
		}
		for _, p := range slices.Concat(s.Presets, s.Lateness) {
			query, err := p.Render("ai", signal.Target{Kind: "Deployment", Name: "llama"}, trust())
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range slices.Compact(unlisted(t, query, list)) {
				t.Errorf("%s: %s: fix the preset, or read the source again and write its list", p.Name, problem)
			}
		}
	}
}

// What differs from a list is found: a name, a type, a label.
func TestUnlisted(t *testing.T) {
	list := map[string]listed{
		"a:running":      {"gauge", []string{"engine"}},
		"a_done_total":   {"counter", nil},
		"a_wait_seconds": {"histogram", nil},
	}
	for query, want := range map[string]string{
		`sum(max by (pod, engine) (a:running{namespace="ai"} >= 0)) + sum(delta(a:running[2m]))`:   "",
		`sum(rate(a_done_total[2m])) / sum by (le) (rate(a_wait_seconds_bucket{le="+Inf"}[5m]))`:   "",
		`label_replace(max by (pod) (kube_pod_owner{owner_kind="Job"}), "x", "$1", "pod", "(.+)")`: "",
		`sum(a:run)`:                                   "a:run is not in the list",
		`sum(a_done)`:                                  "a_done is not in the list",
		`sum(rate(a_wait_seconds[5m]))`:                "a_wait_seconds is not in the list",
		`sum(rate(a_done_total_count[5m]))`:            "a_done_total_count is not in the list",
		`sum(rate(a:running[2m]))`:                     "a:running is a gauge, read as rate(a:running)",
		`max by (pod) (a_done_total >= 0)`:             "a_done_total is a counter, read as (a_done_total)",
		`max by (pod) (delta(a_done_total[2m]))`:       "a_done_total is a counter, read as delta(a_done_total)",
		`max by (pod, engin) (a:running)`:              "a:running has no label engin",
		`max by (pod) (a:running{model="m"})`:          "a:running has no label model",
		`sum by (le) (rate(a_done_total{pod=""}[2m]))`: "a_done_total has no label le",
	} {
		if got := strings.Join(unlisted(t, query, list), "; "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// A list says where each of its names can be read again.
func TestReadings(t *testing.T) {
	commit := regexp.MustCompile(`^([0-9a-f]{40}|v\d+\.\d+\.\d+)$`)
	lists, err := os.ReadDir("names")
	if err != nil || len(lists) != len(signal.Sources()) {
		t.Errorf("%d lists, %v: want one for each of %d sources", len(lists), err, len(signal.Sources()))
	}
	for _, s := range signal.Sources() {
		readings := s.Readings()
		if len(readings) == 0 {
			t.Errorf("%s: no file is named that its metrics were read in", s.Name)
		}
		for _, r := range readings {
			_, err := time.Parse(time.DateOnly, r.Date)
			if err != nil || !commit.MatchString(r.Commit) || strings.Count(r.Repository, "/") != 1 || r.File == "" {
				t.Errorf("%s: %+v, %v: want a date, owner/name, a commit of 40 digits and a file", s.Name, r, err)
			}
		}
	}
}
