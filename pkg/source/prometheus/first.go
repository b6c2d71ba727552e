package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/api"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// keptSeries returns how many series are read of an answer that should have the expected number. The error lists the additional one.
func keptSeries(expected int) int { return expected + 1 }

// furtherSeries replaces the rest of an answer with more series. It closes the answer's array and objects.
const furtherSeries = `{"metric":{},"values":[]}]}}`

// firstSeries reads the first series of an answer to a range query, {"status":…,"data":{"result":[{series},…]}}, up to the number to keep.
// The rest is not read, because a store that ignores the limit of a query may send megabytes.
type firstSeries struct {
	from io.Reader
	kept int
	// open has the outermost open brackets.
	open     [3]byte
	depth    int
	inString bool
	escaped  bool
	series   int
	// rest replaces the part that is not read.
	rest string
	over bool
}

// Read implements io.Reader.
func (f *firstSeries) Read(p []byte) (int, error) {
	if f.over {
		n := copy(p, f.rest)
		f.rest = f.rest[n:]
		if n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	n, err := f.from.Read(p)
	for i, c := range p[:n] {
		if f.begins(c) && f.series > f.kept {
			f.over, f.rest = true, furtherSeries
			return i, nil
		}
	}
	return n, err //nolint:wrapcheck // Readers return io.EOF as it is.
}

// begins consumes a byte, and reports whether a series begins with it.
func (f *firstSeries) begins(c byte) bool {
	switch {
	case f.escaped:
		f.escaped = false
	case f.inString:
		f.escaped, f.inString = c == '\\', c != '"'
	case c == '"':
		f.inString = true
	case c == '{' || c == '[':
		series := c == '{' && f.depth == len(f.open) && f.open == [3]byte{'{', '{', '['}
		if f.depth < len(f.open) {
			f.open[f.depth] = c
		}
		f.depth++
		if series {
			f.series++
		}
		return series
	case c == '}' || c == ']':
		f.depth = max(0, f.depth-1)
	}
	return false
}

// mislabeled says what is wrong with the labels of an answer; empty if they match the query. If every selector of the query requires
// namespace="a" (as in a tenant's query), an answer with namespace="b" belongs to another tenant: a proxy, a cache or a server has mixed
// them up. Most answers are totals without labels, which cannot be checked.
func mislabeled(expr string, metric model.Metric) string {
	if len(metric) == 0 {
		return ""
	}
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return "" // The server may know more than this parser.
	}
	for name, want := range requiredLabels(root) {
		if got, ok := metric[model.LabelName(name)]; ok && string(got) != want {
			return fmt.Sprintf("%s=%q instead of %q", name, got, want)
		}
	}
	return ""
}

// requiredLabels returns the labels for which every selector requires the same value. It returns none if a function writes labels.
func requiredLabels(root parser.Expr) map[string]string {
	required, first, writes := map[string]string{}, true, false
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.Call:
			writes = writes || slices.Contains([]string{"label_replace", "label_join", "info"}, n.Func.Name)
		case *parser.AggregateExpr:
			writes = writes || n.Op == parser.COUNT_VALUES
		case *parser.VectorSelector:
			own := equalities(n)
			if first {
				required, first = own, false
			}
			maps.DeleteFunc(required, func(name, value string) bool { return own[name] != value })
		}
		return nil
	})
	if writes {
		return nil
	}
	return required
}

// equalities returns the labels for which a selector requires a value. The name of the metric is left out, because functions drop it.
func equalities(s *parser.VectorSelector) map[string]string {
	out := map[string]string{}
	for _, m := range s.LabelMatchers {
		if m.Type == labels.MatchEqual && m.Value != "" && m.Name != model.MetricNameLabel {
			out[m.Name] = m.Value
		}
	}
	return out
}

// errPartial means that the server marked its answer as a part of the data.
var errPartial = errors.New("the response is partial")

// wholeAnswers rejects answers that are marked as partial. If a storage node is down, VictoriaMetrics' vmselect answers with status 200,
// without a warning, and with "isPartial": true next to the data. The API client drops this field.
type wholeAnswers struct{ api.Client }

// Do sends a request and reads its answer.
func (c wholeAnswers) Do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	resp, body, err := c.Client.Do(ctx, req)
	if err == nil && isPartial(body) {
		return resp, nil, errPartial
	}
	return resp, body, err
}

// isPartial reports whether an answer is marked as partial. The mark comes before the data, so the data is not read. An answer that is not
// JSON has no mark; the API client reports it.
func isPartial(body []byte) bool {
	const mark = "isPartial"
	if !bytes.Contains(body, []byte(mark)) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return false
		}
		if name == mark {
			var partial bool
			return d.Decode(&partial) != nil || partial
		}
		var other json.RawMessage
		if d.Decode(&other) != nil {
			return false
		}
	}
	return false
}
