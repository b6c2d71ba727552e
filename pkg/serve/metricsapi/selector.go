package metricsapi

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/forewarm/forewarm/pkg/core/decide"
)

// parse reads what a metric's label selector asks for.
func parse(selector labels.Selector) (decide.Selection, error) {
	asked, err := pairs(selector)
	if err != nil {
		return decide.Selection{}, err
	}
	return decide.ParseSelection(asked)
}

// identify repeats a selector that has been parsed, nil where there is none.
func identify(selector labels.Selector) *metav1.LabelSelector {
	asked, err := pairs(selector)
	if err != nil || len(asked) == 0 {
		return nil
	}
	return &metav1.LabelSelector{MatchLabels: asked}
}

// pairs are what a selector asks for, by label. Only what picks one value is meaningful: "=" and "in" with one
// value.
func pairs(selector labels.Selector) (map[string]string, error) {
	if selector == nil || selector.Empty() {
		return map[string]string{}, nil
	}
	requirements, selectable := selector.Requirements()
	if !selectable {
		return nil, fmt.Errorf("%w: it selects nothing", decide.ErrSelection)
	}
	out := make(map[string]string, len(requirements))
	for i := range requirements {
		key, value, err := pair(&requirements[i])
		if err != nil {
			return nil, err
		}
		if other, twice := out[key]; twice && other != value {
			return nil, fmt.Errorf("%w: %.64s is both %.64q and %.64q", decide.ErrSelection, key, other, value)
		}
		out[key] = value
	}
	return out, nil
}

func pair(r *labels.Requirement) (key, value string, err error) {
	values := r.ValuesUnsorted()
	one := []selection.Operator{selection.Equals, selection.DoubleEquals, selection.In}
	if len(values) == 1 && slices.Contains(one, r.Operator()) {
		return r.Key(), values[0], nil
	}
	return "", "", fmt.Errorf("%w: %.128q picks no single value, write for example quantile=0.95 (matchLabels)",
		decide.ErrSelection, r.String())
}
