package config

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// CheckQuantities refuses an object whose quantities must not be parsed (see v1alpha1.BoundedQuantity). It is to be asked
// before the object is decoded.
func CheckQuantities(object map[string]any) error {
	text, found, err := unstructured.NestedString(object, "spec", "scaling", "target")
	if err != nil || !found || v1alpha1.BoundedQuantity(text) {
		return nil //nolint:nilerr // A target of another kind is the decoder's to refuse.
	}
	return fmt.Errorf("spec.scaling.target: %.64q is not a quantity, write for example 64, 0.5 or 4k", text)
}
