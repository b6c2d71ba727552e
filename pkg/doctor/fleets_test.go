package doctor //nolint:testpackage // The check is not exported.

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestCheckFleet(t *testing.T) {
	t.Parallel()
	const spec = `
metadata: {name: h100, namespace: ai}
spec:
  gpus: {count: 8}
  members: [{forecast: chat}]
  batch: [{name: a, selector: {matchLabels: {app: a}}, run: 20m}]
status: {conditions: [`
	const noPlan = `{type: Ready, status: "False", reason: NoPlan}, `
	for name, tt := range map[string]struct{ conditions, want string }{
		"all is well": {
			`{type: Ready, status: "True"}, {type: Shortage, status: "False", reason: Enough}`,
			"ok GPUFleet ai/h100 its members and",
		},
		"members": {
			noPlan + `{type: MembersResolved, status: "False", reason: NoScalingTarget, message: m}`,
			"error GPUFleet ai/h100 NoScalingTarget: m see docs/reference/conditions.md, MembersResolved",
		},
		"a new member": {
			`{type: Ready, status: "False", reason: MembersUnknown, message: m}`,
			"warning GPUFleet ai/h100 MembersUnknown: m",
		},
		"nothing known": {"", "ok GPUFleet"},
	} {
		if f := checkOne(t, spec+tt.conditions+"]}"); !strings.Contains(f, tt.want) {
			t.Errorf("%s: %s, want %s", name, f, tt.want)
		}
	}
	for _, c := range []struct{ from, to, want string }{
		{"count: 8", "count: 0", "error GPUFleet ai/h100 spec.gpus: Invalid value"},
		{"run: 20m", "runs: 20m", "unknown field"},
	} {
		if f := checkOne(t, strings.Replace(spec, c.from, c.to, 1)+"]}"); !strings.Contains(f, c.want) {
			t.Errorf("%s: %s, want %s", c.to, f, c.want)
		}
	}
}

// checkOne returns the only finding about a fleet.
func checkOne(t *testing.T, text string) string {
	t.Helper()
	object := unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	found := checkFleet(&object)
	if len(found) != 1 {
		t.Fatalf("%d findings: %+v", len(found), found)
	}
	return strings.Join([]string{string(found[0].Level), found[0].Object, found[0].Message, found[0].Remedy}, " ")
}
