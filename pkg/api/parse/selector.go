package parse

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Selector returns the labels of a metric's selector, each with its one value: from matchLabels, or from an expression "In" with a
// single value. It is nil without a selector. The error says what to write instead of a selector that allows several values.
func Selector(selector *metav1.LabelSelector) (map[string]string, error) {
	if selector == nil {
		return nil, nil //nolint:nilnil // No selector has no labels.
	}
	out := make(map[string]string, len(selector.MatchLabels)+len(selector.MatchExpressions))
	maps.Copy(out, selector.MatchLabels)
	for i := range selector.MatchExpressions {
		e := &selector.MatchExpressions[i]
		if e.Operator != metav1.LabelSelectorOpIn || len(e.Values) != 1 {
			return nil, fmt.Errorf("%.64q does not select a single value, write matchLabels", e.Key)
		}
		if value, twice := out[e.Key]; twice && value != e.Values[0] {
			return nil, fmt.Errorf("%.64q has two values, keep one", e.Key)
		}
		out[e.Key] = e.Values[0]
	}
	return out, nil
}
