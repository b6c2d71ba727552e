package manifest_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/manifest"
)

// Names are labels of DNS, are not taken, and leave room for a number.
func TestFreeName(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{"sale": true, "sale-2": true}
	for words, want := range map[string]string{
		"Launch: v2!": "launch-v2", "Sale": "sale-3", "発売": "", strings.Repeat("x", 80): strings.Repeat("x", 57),
	} {
		if got := manifest.FreeName(words, func(name string) bool { return taken[name] }); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}
