package promexpr

import (
	"fmt"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Cluster is a label and its value, "cluster=eu-1".
type Cluster string

// matcher returns the matcher for the series of the cluster.
func (c Cluster) matcher() (*labels.Matcher, error) {
	label, value, _ := strings.Cut(string(c), "=")
	if !model.LegacyValidation.IsValidLabelName(label) || label == model.MetricNameLabel || value == "" {
		return nil, fmt.Errorf("cluster %.80q: write a label and its value, for example cluster=eu-1", string(c))
	}
	return labels.NewMatcher(labels.MatchEqual, label, value) //nolint:wrapcheck // An equality has no error.
}

// Validate returns what is wrong with the label and its value. An empty cluster is valid.
func (c Cluster) Validate() error {
	if c == "" {
		return nil
	}
	_, err := c.matcher()
	return err
}

// Limit adds the matcher of the cluster to every selector of an expression.
func (c Cluster) Limit(root parser.Expr) error {
	own, err := c.matcher()
	if err != nil {
		return err
	}
	return walkSelectors(root, func(s *parser.VectorSelector) error { return addMatcher(s, own) })
}
