package v1alpha1

import "strings"

// BoundedQuantity says whether a text may be given to resource.ParseQuantity, which computes every digit of what it
// reads: at 1e-30000000 that is thirty million of them, and seconds of the processor for whoever may create an object.
func BoundedQuantity(text string) bool {
	const longest, exponent = 32, len("e-99")
	at := strings.LastIndexAny(text, "eE")
	return len(text) <= longest && (at < 0 || len(text)-at <= exponent)
}
