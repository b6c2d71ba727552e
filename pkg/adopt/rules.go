package adopt

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/manifest"
)

// Rules are prometheus-adapter's configuration, without the rules that prometheus-adapter itself cannot apply.
type Rules struct {
	Rules         []rule         `json:"rules"`
	ExternalRules []rule         `json:"externalRules"`
	ResourceRules map[string]any `json:"resourceRules"`

	broken []LeftOut
}

// rule defines metrics. The fields without a tag are derived from the others.
type rule struct {
	SeriesQuery   string       `json:"seriesQuery"`
	SeriesFilters []filter     `json:"seriesFilters"`
	Resources     resources    `json:"resources"`
	Name          metricNaming `json:"name"`
	MetricsQuery  string       `json:"metricsQuery"`

	at           string                   // For errors, for example externalRules[0].
	passes       []func(name string) bool // Conditions on the name of a series.
	series       string                   // The series that seriesQuery contains, if it contains one.
	matches      *regexp.Regexp
	gives        *regexp.Regexp // Matches the result of name.as for any values of its references.
	query, label *template.Template
}

type filter struct {
	Is    string `json:"is"`
	IsNot string `json:"isNot"`
}

type resources struct {
	Template   string                   `json:"template"`
	Overrides  map[string]groupResource `json:"overrides"`
	Namespaced *bool                    `json:"namespaced"`
}

type metricNaming struct {
	Matches string `json:"matches"`
	As      string `json:"as"`
}

// groupResource has the fields of resources.template.
type groupResource struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
}

// maxRules limits the work for each metric.
const maxRules = 1000

// ReadRules reads prometheus-adapter's configuration, or the ConfigMap with it.
func ReadRules(file string, data []byte) (c Rules, err error) {
	found, err := configurations(file, data)
	if err != nil {
		return c, err
	}
	if len(found) != 1 {
		const many = "%s: %d configurations of prometheus-adapter, expected one: set --rules to its file or its ConfigMap"
		return c, fmt.Errorf(many, file, len(found))
	}
	if found[0].Broken != nil {
		return c, found[0].Broken.Err()
	}
	if values, ok := valuesOf(found[0]); ok {
		c = values
	} else {
		reading := found[0].Check(reflect.TypeFor[Rules]())
		if err = errors.Join(append(reading.Errs(), found[0].Decode(&c))...); err != nil {
			return c, err
		}
	}
	if n := len(c.Rules) + len(c.ExternalRules); n > maxRules {
		return c, fmt.Errorf("%s: %d rules, but convert reads at most %d: remove the rules that no HPA uses", file, n,
			maxRules)
	}
	compileAll := func(list string, all []rule) []rule {
		for i := range all {
			all[i].at = fmt.Sprintf("%s[%d]", list, i)
			if err := all[i].compile(); err != nil {
				reason := err.Error() + ": correct the rule, or remove it"
				c.broken = append(c.broken, LeftOut{all[i].at, all[i].SeriesQuery, reason})
			}
		}
		return slices.DeleteFunc(all, func(r rule) bool { return r.query == nil })
	}
	c.Rules, c.ExternalRules = compileAll("rules", c.Rules), compileAll("externalRules", c.ExternalRules)
	return c, nil
}

// chartRules has the rules in the values of prometheus-adapter's chart. Other values are ignored.
type chartRules struct {
	Default  *bool          `json:"default"`
	Custom   []rule         `json:"custom"`
	External []rule         `json:"external"`
	Resource map[string]any `json:"resource"`
}

// valuesOf reads the values of prometheus-adapter's chart; ok is false if a document is something else.
func valuesOf(d manifest.RawDocument) (c Rules, ok bool) {
	var values struct {
		Rules *chartRules `json:"rules"`
	}
	if err := d.Decode(&values); err != nil || values.Rules == nil {
		return c, false
	}
	v := values.Rules
	c.Rules, c.ExternalRules, c.ResourceRules = v.Custom, v.External, v.Resource
	if v.Default == nil || *v.Default {
		const rendered = "the chart adds default rules, which are not in its values: set --rules to the output of " +
			"helm template, or set rules.default: false if no HPA uses the default rules"
		c.broken = append(c.broken, LeftOut{"rules.default", "", rendered})
	}
	return c, true
}

// configurations returns the documents in a file that are not Kubernetes objects, and the documents in its ConfigMaps.
func configurations(file string, data []byte) (found []manifest.RawDocument, err error) {
	for _, d := range manifest.RawDocuments(file, data) {
		switch {
		case d.Broken != nil:
			return nil, d.Broken.Err()
		case d.Text("kind") == "":
			found = append(found, d)
		case d.Text("kind") == "ConfigMap":
			var object struct {
				Data map[string]string `json:"data"`
			}
			if err := d.Decode(&object); err != nil {
				return nil, d.Err(err.Error())
			}
			for _, key := range slices.Sorted(maps.Keys(object.Data)) {
				found = append(found, manifest.RawDocuments(file+", "+key, []byte(object.Data[key]))...)
			}
		}
	}
	return found, nil
}

func (r *rule) compile() error {
	matchers, err := parser.NewParser(parser.Options{}).ParseMetricSelector(r.SeriesQuery)
	if err != nil {
		return fmt.Errorf("its seriesQuery is not a selector: %w", err)
	}
	if err = r.compileFilters(matchers); err != nil {
		return err
	}
	if r.matches, err = regexp.Compile(cmp.Or(r.Name.Matches, ".*")); err != nil {
		return fmt.Errorf("its name.matches: %w", err)
	}
	if r.Name.As == "" && r.matches.NumSubexp() > 1 {
		return errors.New("its name.as is missing, and name.matches has several groups")
	}
	r.Name.As = cmp.Or(r.Name.As, fmt.Sprintf("$%d", r.matches.NumSubexp()))
	literals := reference.Split(r.Name.As, -1)
	for i := range literals {
		literals[i] = regexp.QuoteMeta(literals[i])
	}
	if r.gives, err = regexp.Compile("^" + strings.Join(literals, ".*") + "$"); err != nil {
		return fmt.Errorf("its name.as: %w", err)
	}
	if r.label, err = parseTemplate(r.Resources.Template); err != nil {
		return fmt.Errorf("its resources.template: %w", err)
	}
	if r.MetricsQuery == "" {
		return errors.New("its metricsQuery is missing")
	}
	if r.query, err = parseTemplate(r.MetricsQuery); err != nil {
		return fmt.Errorf("its metricsQuery: %w", err)
	}
	return nil
}

// compileFilters builds the conditions on the name of a series.
func (r *rule) compileFilters(matchers []*labels.Matcher) error {
	for _, m := range matchers {
		if m.Name != model.MetricNameLabel {
			continue
		}
		r.passes = append(r.passes, m.Matches)
		if m.Type == labels.MatchEqual {
			r.series = m.Value
		} else if m.Type == labels.MatchRegexp && literal.MatchString(m.Value) { // Prometheus anchors the expression.
			r.series = literal.FindStringSubmatch(m.Value)[1]
		}
	}
	for _, f := range r.SeriesFilters {
		pattern, err := regexp.Compile(cmp.Or(f.Is, f.IsNot))
		if err != nil || (f.Is == "") == (f.IsNot == "") {
			const filter = "a filter in seriesFilters does not have exactly one valid regular expression, is or isNot"
			return errors.Join(errors.New(filter), err)
		}
		r.passes = append(r.passes, func(name string) bool { return pattern.MatchString(name) == (f.Is != "") })
	}
	return nil
}

// findRule returns the only rule that defines a metric, and its series. If several rules could define it, it returns the rule for a known
// series.
func findRule(all []rule, metric string, known []string) (found *rule, series string, err error) {
	var words []string
	fitting := map[*rule]string{}
	for i := range all {
		if name, fits := all[i].seriesOf(metric); fits {
			if name == "" {
				name = all[i].seriesAmong(known, metric)
			}
			fitting[&all[i]] = name
			words = append(words, all[i].at+" from the series "+cmp.Or(name, "?"))
		}
	}
	if len(fitting) > 1 && len(known) > 0 {
		maps.DeleteFunc(fitting, func(_ *rule, name string) bool { return !slices.Contains(known, name) })
	}
	for found, series = range fitting { // There is exactly one; otherwise it is an error.
		break
	}
	switch {
	case len(words) == 0:
		return nil, "", errors.New("no rule produces it: correct the name, or write a Forecast with your own query")
	case len(fitting) != 1:
		const several = "several rules could produce it, %s: set --series to the series that exists"
		return nil, "", fmt.Errorf(several, strings.Join(words, ", "))
	case series == "":
		const unknown = "the series of %s cannot be derived from its name.matches: write it in --series, or in its seriesQuery"
		return nil, "", fmt.Errorf(unknown, found.at)
	}
	return found, series, nil
}

// seriesAmong returns the only series, of some, from which a rule derives a metric; empty if there are none or several.
func (r *rule) seriesAmong(known []string, metric string) string {
	var found []string
	for _, series := range known {
		if slices.ContainsFunc(r.passes, func(passes func(string) bool) bool { return !passes(series) }) {
			continue
		}
		if at := r.matches.FindStringSubmatchIndex(series); at != nil &&
			string(r.matches.ExpandString(nil, r.Name.As, series, at)) == metric {
			found = append(found, series)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

var (
	// literal matches a regular expression that matches only one name.
	literal      = regexp.MustCompile(`^\^?\(?([A-Za-z_:][\w:]*)\)?\$?$`)
	reference    = regexp.MustCompile(`\$(?:\w+|\{\w+\})`)
	oneReference = regexp.MustCompile(`^([\w:]*)\$(?:\{1\}|1$)([\w:]*)$`)
	oneGroup     = regexp.MustCompile(`^\^?([\w:]*)\((?:\.[*+])\)([\w:]*)\$?$`)
)

// seriesOf returns the series from which a rule derives a metric. Without a Prometheus, this is the series in seriesQuery, or else the one
// that follows from reversing the name. It is empty if the rule may fit but both are unknown.
func (r *rule) seriesOf(metric string) (series string, fits bool) {
	as, matches := oneReference.FindStringSubmatch(r.Name.As), oneGroup.FindStringSubmatch(r.matches.String())
	switch {
	case !r.gives.MatchString(metric):
		return "", false
	case r.series != "":
		series = r.series
	case r.Name.As == "$0":
		series = metric
	case as == nil || matches == nil:
		return "", true
	default:
		value, before := strings.CutPrefix(metric, as[1])
		value, after := strings.CutSuffix(value, as[2])
		if series = matches[1] + value + matches[2]; !before || !after {
			return "", false
		}
	}
	for _, passes := range r.passes {
		if !passes(series) {
			return "", false
		}
	}
	at := r.matches.FindStringSubmatchIndex(series)
	return series, at != nil && string(r.matches.ExpandString(nil, r.Name.As, series, at)) == metric
}

var (
	control = regexp.MustCompile(`<<-?\s*(define|template|block|range)\b[^>]*`)
	loop    = regexp.MustCompile(`range\s+(\$\w+\s*,\s*)?(\$\w+\s*:=\s*)?\.(LabelValuesByName|GroupBySlice)\s*$`)
)

// parseTemplate reads a template of prometheus-adapter. It rejects templates that could take long or grow: loops over anything except the
// template's fields, nested templates, and functions that create text.
func parseTemplate(text string) (*template.Template, error) {
	used := control.FindAllString(text, -1)
	for i, action := range used {
		if i > 1 || !loop.MatchString(action) {
			return nil, fmt.Errorf("%.64q cannot be converted: write the query without it", action)
		}
	}
	makers := template.FuncMap{}
	for _, name := range []string{"call", "html", "js", "print", "printf", "println", "slice", "urlquery"} {
		makers[name] = func(...any) (string, error) { return "", errors.New("it cannot be converted") }
	}
	return template.New("query").Delims("<<", ">>").Option("missingkey=error").Funcs(makers).Parse(text)
}

// labelOf returns the label that contains the names of a kind of objects.
func (r *rule) labelOf(kind schema.GroupVersionKind) (string, error) {
	plural, singular := meta.UnsafeGuessKindToResource(kind)
	for label, of := range r.Resources.Overrides {
		if of.Group == kind.Group && (of.Resource == plural.Resource || of.Resource == singular.Resource) {
			return label, nil
		}
	}
	var label limited
	group := strings.NewReplacer(".", "_", "-", "_").Replace(kind.Group)
	err := r.label.Execute(&label, groupResource{group, singular.Resource})
	if err == nil && label.Len() == 0 {
		err = errors.New("add an override")
	}
	if err != nil {
		return "", fmt.Errorf("%s: its resources define no label for a %s: %w", r.at, singular.Resource, err)
	}
	return label.String(), nil
}

// matcher is a label matcher in a metricsQuery.
type matcher struct{ label, operator, value string }

// expand fills in a metricsQuery.
//
//nolint:ireturn // A sum type.
func (r *rule) expand(series string, matchers []matcher, groupBy []string) (parser.Expr, error) {
	texts, values := make([]string, len(matchers)), map[string]string{}
	for i, m := range matchers {
		texts[i], values[m.label] = fmt.Sprintf("%s%s%q", m.label, m.operator, m.value), m.value
	}
	var text limited
	if err := r.query.Execute(&text, map[string]any{
		"Series": series, "LabelMatchers": strings.Join(texts, ","), "LabelValuesByName": values,
		"GroupBy": strings.Join(groupBy, ","), "GroupBySlice": groupBy,
	}); err != nil {
		return nil, fmt.Errorf("the template metricsQuery of %s cannot be filled in: %w: write it without a template",
			r.at,
			err)
	}
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text.String())
	if err != nil {
		return nil, fmt.Errorf("the metricsQuery of %s, filled in, is not valid PromQL: %w: correct it", r.at, err)
	}
	return expr, nil
}

// limited is a text whose length is limited to that of a query.
type limited struct{ strings.Builder }

// Write implements io.Writer.
func (l *limited) Write(text []byte) (int, error) {
	if l.Len()+len(text) > manifest.MaxQuery {
		return 0, fmt.Errorf("it is longer than %d bytes", manifest.MaxQuery)
	}
	return l.Builder.Write(text)
}
