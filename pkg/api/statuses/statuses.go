// Package statuses holds what the statuses of forewarm's objects have in common: how long a text in them may be, and what of a
// change is news.
package statuses

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxText bounds a text, in bytes; the API allows 32 KiB for a condition's message, a reader less.
const maxText = 2048

// Clip keeps a text within what a reader bears.
func Clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + " …"
}

// Same says whether two parts of a status are equal, or both absent.
func Same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// SameCondition says whether a condition says the same, whatever its message and its times.
func SameCondition(a, b metav1.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason
}
