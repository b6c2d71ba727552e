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

// Bounded reports whether a text may be given to resource.ParseQuantity, which computes every digit of the number: for 1e-30000000
// these are thirty million digits, and seconds of CPU time that anyone who may create an object could take.
func Bounded(text string) bool {
	const maxLength, maxExponent = 32, len("e-99")
	at := strings.LastIndexAny(text, "eE")
	return len(text) <= maxLength && (at < 0 || len(text)-at <= maxExponent)
}
