package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// queried counts the series of each selector in a user's own query. The label row says what is counted: "0" is the first selector, "0 any"
// is the same without its labels, "0 exported" has the namespace in exported_namespace, and "0 without 2" is without its third matcher.
func (q Query) queried(all []*parser.VectorSelector) string {
	var parts []string
	add := func(row string, s *parser.VectorSelector) {
		parts = append(parts, fmt.Sprintf(`label_replace(count(%s), "row", %q, "", "")`, s, row))
	}
	kept := []string{model.MetricNameLabel, q.TenantLabel, q.clusterLabel()}
	for i, s := range all {
		of := strconv.Itoa(i)
		add(of, s)
		add(of+" any", keepMatchers(s, kept...))
		if q.TenantLabel == "namespace" {
			ofCluster := keepMatchers(s, q.clusterLabel())
			add(of+" exported", with(ofCluster, labels.MatchEqual, "exported_namespace", q.Namespace))
		}
		for j, m := range s.LabelMatchers {
			if !slices.Contains(kept, m.Name) {
				add(fmt.Sprintf("%s without %d", of, j), without(s, j))
			}
		}
	}
	return strings.Join(parts, " or ")
}

// without returns a selector without one of its matchers.
func without(s *parser.VectorSelector, at int) *parser.VectorSelector {
	return &parser.VectorSelector{Name: s.Name, LabelMatchers: slices.Delete(slices.Clone(s.LabelMatchers), at, at+1)}
}

// findInQuery returns the cause if a user's own query has no series: the first selector that matches none.
func (q Query) findInQuery(ask Ask) (Cause, error) {
	const most = 8
	all := slices.DeleteFunc(promexpr.Selectors(q.Expr), func(s *parser.VectorSelector) bool {
		return matcher(s, model.MetricNameLabel) == nil
	})
	all = all[:min(most, len(all))]
	none := fmt.Sprintf("the query %s has no series", clip(q.Expr))
	if len(all) == 0 {
		return Cause{
			CheckSource,
			none,
			"check that its metrics exist, and that they are scraped with these labels",
		}, nil
	}
	found, err := ask(q.queried(all), "row")
	if err != nil {
		return Cause{}, err
	}
	for i, s := range all {
		if found[strconv.Itoa(i)] == 0 {
			c := q.unmatched(i, s, found)
			c.Message = none + ": " + c.Message
			return c, nil
		}
	}
	return Cause{
		CheckSource,
		none + " now, although each of its selectors has series",
		"check the labels that join the parts of the query, its comparisons, rates over fewer than two samples, and divisions of 0 by 0, " +
			"which some stores omit",
	}, nil
}

// unmatched says why a selector in a query matches no series.
func (q Query) unmatched(i int, s *parser.VectorSelector, found map[string]float64) Cause {
	of := strconv.Itoa(i)
	name := cmp.Or(s.Name, clip(matcher(s, model.MetricNameLabel).String()))
	somewhere, elsewhere := found[of+" any"], found[of+" exported"]
	switch {
	case somewhere == 0 && elsewhere > 0:
		text := fmt.Sprintf(
			"no series of %s has the namespace %s in the label namespace, but %s %s it in exported_namespace",
			name,
			q.Namespace,
			count(elsewhere, "series"),
			have(elsewhere),
		)
		return Cause{CheckLabels, text, "set honorLabels: true in the scrape"}
	case somewhere == 0:
		where := ""
		if q.TenantLabel != "" {
			where = fmt.Sprintf(" with %s=%q", q.TenantLabel, q.Namespace)
		}
		return Cause{
			CheckSource, "there is no series of " + name + where,
			"check the name of the metric and the namespace, and that it is scraped",
		}
	}
	for j, m := range s.LabelMatchers {
		if n := found[fmt.Sprintf("%s without %d", of, j)]; n > 0 {
			text := fmt.Sprintf("no series of %s has %s, but %s %s the other labels",
				name, clip(m.String()), count(n, "series"), have(n))
			return Cause{CheckLabels, text, "correct this label in the query, or make the scrape add it"}
		}
	}
	return Cause{
		CheckLabels,
		fmt.Sprintf("%s of %s exist, but none matches %s", count(somewhere, "series"), name, clip(s.String())),
		"correct the labels in the query, or make the scrape add them",
	}
}

// clip shortens a part of the query for a message.
func clip(s string) string {
	const limit = 80
	return printable.Clip(s, limit)
}
