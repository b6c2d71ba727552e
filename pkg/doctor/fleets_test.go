package doctor //nolint:testpackage // The check is not exported.

import (
	"os"
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
		"nothing known": {"", "warning GPUFleet ai/h100 has no status yet"},
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
	object := read(t, text)
	found := checkFleet(&object)
	if len(found) != 1 {
		t.Fatalf("%d findings: %+v", len(found), found)
	}
	return strings.Join([]string{string(found[0].Level), found[0].Object, found[0].Message, found[0].Remedy}, " ")
}

// What of a ScaledJob would start or keep jobs on GPUs that the members need.
func TestCheckScaledJobs(t *testing.T) {
	t.Parallel()
	const safe = `
metadata: {name: embed, namespace: ai}
spec:
  scalingStrategy: {strategy: default}
  triggers: [{type: external, metadata: {fleet: h100, batch: a}}]
  jobTargetRef: {backoffLimit: 0, activeDeadlineSeconds: 1200}
`
	fleet := read(t, `
metadata: {name: h100, namespace: ai}
spec:
  gpus: {count: 8}
  members: [{forecast: chat}]
  batch: [{name: a, selector: {matchLabels: {app: a}}, run: 20m}]
`)
	for _, c := range []struct{ from, to, message, remedy string }{
		{"", "", "its jobs end in time", ""},
		{"1200", "600", "its jobs end in time", ""},
		{"default", "accurate", "the strategy accurate does not", "remove spec.scalingStrategy"},
		{"triggers: [", "triggers: [{type: cron}, ", "it has 2 triggers", "remove the other triggers"},
		{"spec:", "spec:\n  minReplicaCount: 1", "it always keeps 1 job", "set minReplicaCount: 0"},
		{"{backoff", "{completions: 3, backoff", "a job has 3 pods", "set parallelism and completions to 1"},
		{"backoffLimit: 0, ", "", "a failed job is started again", "set backoffLimit: 0"},
		{"1200", "1201", "nothing ends a job after the consumer's run of 20m", "set activeDeadlineSeconds: 1200"},
		{", activeDeadlineSeconds: 1200", "", "nothing ends a job after", "set activeDeadlineSeconds: 1200"},
		{"batch: a", "batch: b", `no GPUFleet "h100" that you may read has the consumer "b"`, "correct fleet and batch"},
		{"namespace: ai", "namespace: other", `no GPUFleet "h100" that you may read`, "correct fleet and batch"},
	} {
		job := read(t, strings.Replace(safe, c.from, c.to, 1))
		found := checkScaledJobs(t.Context(), nil, &state{
			fleets: []unstructured.Unstructured{fleet}, scaledJobs: []unstructured.Unstructured{job},
		})
		if len(found) != 1 {
			t.Fatalf("%s: %+v", c.to, found)
		}
		f := &found[0]
		if !strings.Contains(f.Message, c.message) || !strings.HasPrefix(f.Remedy, c.remedy) ||
			strings.Contains(f.Message, ";") || (f.Level == OK) != (c.remedy == "") {
			t.Errorf("%s: %+v", c.to, f)
		}
	}
	two := []unstructured.Unstructured{read(t, safe), read(t, strings.Replace(safe, "embed", "embed2", 1))}
	found := checkScaledJobs(t.Context(), nil, &state{fleets: []unstructured.Unstructured{fleet}, scaledJobs: two})
	if len(found) != 2 || !strings.Contains(found[1].Message, "the same metric as ai/embed, so both use") {
		t.Errorf("%+v", found)
	}
	other := read(t, strings.Replace(safe, "fleet: h100, batch: a", "forecast: chat", 1))
	if found = checkScaledJobs(t.Context(), nil, &state{scaledJobs: []unstructured.Unstructured{other}}); found != nil {
		t.Errorf("a ScaledJob without a fleet: %+v", found)
	}
}

// The sample is safe.
func TestTheSampleOfAFleet(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/samples/gpu-fleet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := &state{}
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		switch object := read(t, part); object.GetKind() {
		case "GPUFleet":
			s.fleets = append(s.fleets, object)
		case "ScaledJob":
			s.scaledJobs = append(s.scaledJobs, object)
		}
	}
	if found := checkScaledJobs(t.Context(), nil, s); len(found) != 1 || found[0].Level != OK {
		t.Errorf("%+v", found)
	}
}

func read(t *testing.T, text string) (object unstructured.Unstructured) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}
