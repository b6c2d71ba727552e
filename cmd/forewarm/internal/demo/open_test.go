package demo //nolint:testpackage // As above.

import (
	"os/exec"
	"testing"
)

func TestEachSystemHasItsBrowser(t *testing.T) {
	for system, want := range map[string]string{"linux": "xdg-open", "freebsd": "xdg-open", "darwin": "open", "windows": "rundll32"} {
		if got := browser(system, "http://x"); got[0] != want || got[len(got)-1] != "http://x" {
			t.Errorf("%s: %q, want %s and the page", system, got, want)
		}
	}
}

func TestABrowserThatDoesNotOpenIsAnError(t *testing.T) {
	for name, fails := range map[string]bool{"true": false, "false": true, "no-such-browser": true} {
		if _, err := exec.LookPath(name); err != nil && !fails {
			t.Skip(err)
		}
		if err := openPage(t.Context(), []string{name}); (err != nil) != fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
