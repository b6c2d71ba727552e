package adopt

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/manifest"
)

var (
	control = regexp.MustCompile(`<<-?\s*(define|template|block|range)\b[^>]*`)
	loop    = regexp.MustCompile(`range\s+(\$\w+\s*,\s*)?(\$\w+\s*:=\s*)?\.(LabelValuesByName|GroupBySlice)\s*$`)
)

// parseTemplate reads a template of prometheus-adapter. It refuses what could take long or grow: loops over anything but its
// fields, templates within it, and functions that make text.
func parseTemplate(text string) (*template.Template, error) {
	used := control.FindAllString(text, -1)
	for i, action := range used {
		if i > 1 || !loop.MatchString(action) {
			return nil, fmt.Errorf("%.64q is not converted, write the query out", action)
		}
	}
	makers := template.FuncMap{}
	for _, name := range []string{"call", "html", "js", "print", "printf", "println", "slice", "urlquery"} {
		makers[name] = func(...any) (string, error) { return "", errors.New("it is not converted") }
	}
	return template.New("query").Delims("<<", ">>").Option("missingkey=error").Funcs(makers).Parse(text)
}

// labelOf is the label with the names of a kind of objects.
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
		return "", fmt.Errorf("%s: its resources name no label of a %s: %w", r.at, singular.Resource, err)
	}
	return label.String(), nil
}

// matcher is a label matcher of a metricsQuery.
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
		return nil, fmt.Errorf("the metricsQuery of %s cannot be filled in: %w: write it out", r.at, err)
	}
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text.String())
	if err != nil {
		return nil, fmt.Errorf("the metricsQuery of %s, filled in, is not PromQL: %w: correct it", r.at, err)
	}
	return expr, nil
}

// limited is a text of at most the length of a query.
type limited struct{ strings.Builder }

// Write implements io.Writer.
func (l *limited) Write(text []byte) (int, error) {
	if l.Len()+len(text) > manifest.MaxQuery {
		return 0, fmt.Errorf("it is longer than %d bytes", manifest.MaxQuery)
	}
	return l.Builder.Write(text)
}

// total is the sum over an expression's series, as the HPA adds up the items of an answer.
func total(expr parser.Expr) string {
	a, ok := expr.(*parser.AggregateExpr)
	switch {
	case ok && len(a.Grouping) == 0 && !a.Without && a.Param == nil:
		return a.String()
	case expr.Type() == parser.ValueTypeScalar:
		return "vector(" + expr.String() + ")"
	}
	return "sum(" + expr.String() + ")"
}

// tricks are functions by which a query looks ahead, or at the worst of a time.
var tricks = []string{ //nolint:gochecknoglobals // A constant table.
	"max_over_time", "quantile_over_time", "predict_linear", "double_exponential_smoothing",
}

// plain takes tricks and offsets off an expression, from the outside and as long as it computes from one operand. taken are
// they in words.
func plain(expr parser.Expr) (inner parser.Expr, taken []string) { //nolint:ireturn // A sum type.
	stripped := false // The range goes with the function that looked over it.
	for part := &expr; part != nil; {
		var next *parser.Expr
		ranged := false
		if at := offsetOf(*part); at != nil && *at != 0 {
			taken, *at = append(taken, "offset "+model.Duration(*at).String()), 0
		}
		switch n := (*part).(type) {
		case *parser.MatrixSelector:
			next, ranged = &n.VectorSelector, true
		case *parser.SubqueryExpr:
			next, ranged = &n.Expr, true
		case *parser.ParenExpr:
			next = &n.Expr
		case *parser.AggregateExpr:
			next = &n.Expr
		case *parser.Call:
			if isTrick(n) {
				taken, stripped = append(taken, n.Func.Name), true
				*part, next = n.Args[slices.IndexFunc(n.Args, isRange)], part
			} else if len(n.Args) == 1 {
				next = &n.Args[0]
			}
		}
		if ranged && stripped {
			*part, next, stripped = *next, part, false
		}
		part = next
	}
	return expr, taken
}

func isTrick(call *parser.Call) bool {
	return slices.Contains(tricks, call.Func.Name) && slices.ContainsFunc(call.Args, isRange)
}

func isRange(e parser.Expr) bool { return e.Type() == parser.ValueTypeMatrix }

// offsetOf is where a node has its offset; nil where it cannot have one.
func offsetOf(node parser.Node) *time.Duration {
	switch n := node.(type) {
	case *parser.VectorSelector:
		return &n.OriginalOffset
	case *parser.SubqueryExpr:
		return &n.OriginalOffset
	}
	return nil
}

// remaining is a trick or offset that stands elsewhere; empty where there is none.
func remaining(expr parser.Expr) (trick string) {
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if at := offsetOf(node); at != nil && *at != 0 {
			trick = "offset"
		} else if call, ok := node.(*parser.Call); ok && isTrick(call) {
			trick = call.Func.Name
		}
		return nil
	})
	return trick
}
