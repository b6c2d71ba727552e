package traces_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/refresh/traces"
)

func TestTracingConfigsWithErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tracing")
	for text, want := range map[string]string{
		"kind: Nothing\n": "Nothing",
		"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: -1\n": "samplingRatePerMillion",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := traces.Open(t.Context(), file, "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
