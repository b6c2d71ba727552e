package forecasts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

const good = `
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: %s, namespace: default}
spec:
  targetRef: {kind: Deployment, name: llama}
  %s
`

// testSchema shows that the API server refuses by the CRD's schema alone what can be judged alone, with a text that says
// what to write, and takes what is right.
func testSchema(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	const signal = "signal: {query: x}\n  "
	for _, f := range []struct{ name, fields, want string }{
		{"no signal", "step: 30s", "spec.signal: Required value"},
		{"an empty signal", "signal: {}", "set exactly one of preset and query"},
		{"two signals", "signal: {preset: a/b, query: x}", "set exactly one of preset and query"},
		{"a long query", "signal: {query: " + strings.Repeat("x", 8193) + "}", "Too long"},
		{"a long limit signal", "signal: {query: x, saturated: " + strings.Repeat("x", 8193) + "}", "Too long"},
		{"an unknown field", signal + "stepp: 30s", `unknown field "spec.stepp"`},
		{"a duration without a unit", signal + `step: "30"`, "spec.step: Invalid value"},
		{"a duration in Go's words", signal + "history: 1.5h", "spec.history: Invalid value"},
		{"a duration in disorder", signal + "history: 1m1h", "spec.history: Invalid value"},
		{"an empty duration", signal + `staleAfter: ""`, "spec.staleAfter"},
		{"a step below a second", signal + "step: 500ms", "write a whole number of seconds, at least 1s"},
		{"a step of nothing", signal + "step: 0h0s", "write a whole number of seconds, at least 1s"},
		{"a quantile of 1", signal + `quantile: "1"`, "spec.quantile: Invalid value"},
		{"a quantile too high", signal + `quantile: "0.996"`, "write a number from 0.05 to 0.995"},
		{"a quantile too low", signal + `quantile: ".04"`, "write a number from 0.05 to 0.995"},
		{"a quantile without quotes", signal + `quantile: 0.95`, "must be of type string"},
		{"late without its sign", signal + `objective: {late: "1"}`, "spec.objective.late: Invalid value"},
		{"a cost ratio of nothing", signal + `costRatio: "0.0"`, "write a number above 0, at most 1000000"},
		{"a cost ratio beyond all", signal + `costRatio: "1000001"`, "write a number above 0, at most 1000000"},
		{"a negative cost ratio", signal + `costRatio: "-1"`, "spec.costRatio: Invalid value"},
		{"a cost ratio with an exponent", signal + `costRatio: "1e3"`, "spec.costRatio: Invalid value"},
		{"a cost ratio without quotes", signal + `costRatio: 20`, "must be of type string"},
		{"a cost ratio beside an objective", signal + "costRatio: \"20\"\n  objective: {wait: 1m}", "keep one"},
		{"a cost ratio beside a quantile", signal + "costRatio: \"20\"\n  quantile: \"0.9\"", "keep one"},
		{"everything late", signal + `objective: {late: "100%"}`, "write a percentage above 0% and below 100%"},
		{"nothing late", signal + `objective: {late: "0.0%"}`, "write a percentage above 0% and below 100%"},
		{"both ways to say it", signal + `{quantile: "0.9", objective: {}}`, "keep one"},
		{"fixed without a duration", signal + "leadTime: {mode: Fixed}", "mode Fixed takes a duration"},
		{"a duration without a mode", signal + "leadTime: {duration: 4m}", "mode Fixed takes a duration"},
		{"fixed with a fallback", signal + "leadTime: {mode: Fixed, duration: 4m, fallback: 4m}", "for mode Auto only"},
		{"an unknown mode", signal + "leadTime: {mode: Guess}", `supported values: "Auto", "Fixed"`},
		{"an unknown way to serve", signal + "serve: floor", `supported values: "Floor", "Forecast", "Shadow"`},
		{"a model twice", signal + "models: [arima, arima]", "Duplicate value"},
		{"an empty model", signal + `models: [""]`, "spec.models[0]"},
		{"a target of nothing", signal + "scaling: {target: 0}", "write a quantity above 0"},
		{"a negative target", signal + `scaling: {target: "-4k"}`, "write a quantity above 0"},
		{"a target that is a fraction", signal + `scaling: {target: 1.5}`, "spec.scaling.target"},
		{"a target that is no quantity", signal + `scaling: {target: 1e1.5}`, "write a quantity above 0"},
		{"a target of millions of digits", signal + `scaling: {target: "1e-30000000"}`, "write a quantity above 0"},
		{"a target beyond integers", signal + `scaling: {target: 99999999999999999999}`, "spec.scaling.target"},
		{"scaling without a target", signal + "scaling: {minReplicas: 1}", "write target, the demand that one replica sustains"},
		{"before without a target", signal + "scaling: {before: {minReplicas: 1}}", "spec.scaling.before.target: Required value"},
		{"a target of nothing before", signal + "scaling: {before: {target: 0}}", "write a quantity above 0"},
		{"fewer at most than at least", signal + "scaling: {target: 1, minReplicas: 3, maxReplicas: 2}", "must not exceed"},
		{"an alias without a metric", signal + "expose: {matchLabels: {queue: orders}}", "spec.expose.metric: Required value"},
		{"an alias that ends the path", signal + "expose: {metric: a/b}", "spec.expose.metric: Invalid value"},
		{"an alias with a key of a view", signal + "expose: {metric: a, matchLabels: {model: x}}", "ask for another view of a Forecast"},
		{"more replicas than an int32", signal + "scaling: {target: 1, maxReplicas: 3000000000}", "spec.scaling.maxReplicas"},
	} {
		t.Run(f.name, func(t *testing.T) {
			fields := strings.ReplaceAll(f.fields, "{quantile: \"0.9\", objective: {}}",
				"quantile: \"0.9\"\n  objective: {}")
			output, err := c.Kubectl(t, fmt.Sprintf(good, "bad", fields), "create", "--validate=strict", "-f", "-")
			if err == nil || !strings.Contains(output, f.want) {
				t.Errorf("%v, %q does not say %q", err, output, f.want)
			}
		})
	}
	for i, fields := range []string{
		"signal: {preset: vllm/inflight}",
		signal + "quantile: \"0.995\"",
		signal + "quantile: \".05\"",
		signal + `objective: {late: "0.5%"}`,
		signal + "objective: {}",
		signal + `costRatio: "20"`,
		signal + `costRatio: ".25"`,
		signal + `costRatio: "1000000.0"`,
		signal + "history: 1w2d3h4m5s6ms\n  step: 1s\n  staleAfter: 1h",
		signal + "leadTime: {fallback: 3m}\n  serve: Shadow\n  models: [HoltWinters, arima]",
		signal + "leadTime: {mode: Fixed, duration: 4m}",
		signal + "scaling: {target: 4000}",
		signal + "scaling: {target: 4k, minReplicas: 0, maxReplicas: 50}",
		signal + "scaling: {target: 0.5Mi}",
		signal + "scaling: {before: {target: 2800, minReplicas: 2}}",
		signal + "expose: {metric: 'Queue:messages_ready', matchLabels: {queue: orders}}",
	} {
		c.MustKubectl(t, fmt.Sprintf(good, fmt.Sprintf("good-%d", i), fields), "create", "--validate=strict", "-f", "-")
	}
	sample, err := os.ReadFile(filepath.Join(apiservertest.Root(t), "deploy", "samples", "forecast.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c.MustKubectl(t, strings.Replace(string(sample), "namespace: inference", "namespace: default", 1), "create", "-f",
		"-")
	c.MustKubectl(t, "", "delete", "forecasts", "--all")
}
