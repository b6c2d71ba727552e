// Package parse reads what several packages read from Kubernetes objects, files and flags in the same way: quantities, and selectors
// that have a single value for each label.
package parse

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantity parses a quantity in the notation of Kubernetes: 64, 0.5, 500m, 4k or 1e3. Unlike resource.ParseQuantity it is safe for
// text from anyone, see [Bounded].
func Quantity(text string) (resource.Quantity, error) {
	if Bounded(text) {
		if q, err := resource.ParseQuantity(text); err == nil {
			return q, nil
		}
	}
	return resource.Quantity{}, fmt.Errorf("%.64q is not a quantity, write for example 64, 0.5 or 4k", text)
}

// Bounded reports whether a text is safe to pass to resource.ParseQuantity. ParseQuantity computes every digit of the number. For
// 1e-30000000 that would be thirty million digits and seconds of CPU time, and anyone who is allowed to create an object could cause it.
func Bounded(text string) bool {
	const maxLength, maxExponent = 32, len("e-99")
	at := strings.LastIndexAny(text, "eE")
	return len(text) <= maxLength && (at < 0 || len(text)-at <= maxExponent)
}
