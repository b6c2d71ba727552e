package metricsapi

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/forewarm/forewarm/pkg/core/decide"
)

// parseSelector parses a metric's label selector.
func parseSelector(selector labels.Selector) (decide.Overrides, error) {
	asked, err := selectorPairs(selector)
	if err != nil {
		return decide.Overrides{}, err
	}
	return decide.ParseSelector(asked)
}

// labelSelector returns a parsed selector as an API object; nil if it is empty.
func labelSelector(selector labels.Selector) *metav1.LabelSelector {
	asked, err := selectorPairs(selector)
	if err != nil || len(asked) == 0 {
		return nil
	}
	return &metav1.LabelSelector{MatchLabels: asked}
}

// selectorPairs are the labels and values of a selector. Each label must have one value, by "=" or by "in".
func selectorPairs(selector labels.Selector) (map[string]string, error) {
	if selector == nil || selector.Empty() {
		return map[string]string{}, nil
	}
	requirements, selectable := selector.Requirements()
	if !selectable {
		return nil, fmt.Errorf("%w: the selector matches nothing", decide.ErrSelector)
	}
	out := make(map[string]string, len(requirements))
	for i := range requirements {
		key, value, err := requirementPair(&requirements[i])
		if err != nil {
			return nil, err
		}
		if other, twice := out[key]; twice && other != value {
			return nil, fmt.Errorf("%w: label %.64s has two values (%.64q, %.64q): keep one",
				decide.ErrSelector, key, other, value)
		}
		out[key] = value
	}
	return out, nil
}

func requirementPair(r *labels.Requirement) (key, value string, err error) {
	values := r.ValuesUnsorted()
	one := []selection.Operator{selection.Equals, selection.DoubleEquals, selection.In}
	if len(values) == 1 && slices.Contains(one, r.Operator()) {
		return r.Key(), values[0], nil
	}
	return "", "", fmt.Errorf("%w: %.128q does not select a single value: write for example quantile=0.95 "+
		"(matchLabels)", decide.ErrSelector, r.String())
}
