package forecasts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/casetest"
)

const good = `
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: %s, namespace: default}
spec:
  targetRef: {kind: Deployment, name: llama}
  %s
`

// judged are fields of a spec, and what the API server says about them; nothing where it takes them.
type judged struct{ Name, Fields, Want string }

// testSchema shows that the API server refuses by the CRD's schema alone what can be judged alone, with a text that says
// what to write, and takes what is right.
func testSchema(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	long := "signal: {query: " + strings.Repeat("x", 8193)
	for i, f := range append(
		casetest.Read[judged](t, "schema.yaml"), judged{"a long query", long + "}", "Too long"},
		judged{"a long limit signal", strings.Replace(long, "query: ", "query: x, saturated: ", 1) + "}", "Too long"},
	) {
		t.Run(f.Name, func(t *testing.T) {
			object := fmt.Sprintf(good, fmt.Sprintf("f-%d", i), strings.ReplaceAll(f.Fields, "\n", "\n  "))
			output, err := c.Kubectl(t, object, "create", "--validate=strict", "-f", "-")
			if (err == nil) != (f.Want == "") || !strings.Contains(output, f.Want) {
				t.Errorf("%v, %q does not say %q", err, output, f.Want)
			}
		})
	}
	sample, err := os.ReadFile(filepath.Join(apiservertest.Root(t), "deploy", "samples", "forecast.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c.MustKubectl(t, strings.Replace(string(sample), "namespace: inference", "namespace: default", 1), "create", "-f",
		"-")
	c.MustKubectl(t, "", "delete", "forecasts", "--all")
}
