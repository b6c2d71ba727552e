package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// TestPoolSchema shows that the API server refuses by the CRD's schema alone what can be judged alone, with a text that says
// what to write, and takes what is right. The pod of a chunk it does not look into.
func TestPoolSchema(t *testing.T) {
	c := apiservertest.Start(t)
	for i, f := range casetest.Read[changedPool](t, "pool-schema.yaml") {
		t.Run(f.Name, func(t *testing.T) {
			own := strings.NewReplacer("h100", fmt.Sprintf("f-%d", i), "inference", "default")
			output, err := c.Kubectl(t, own.Replace(f.text()), "create", "--validate=strict", "-f", "-")
			if (err == nil) != (f.Want == "") || !strings.Contains(output, f.Want) {
				t.Errorf("%v, %q does not say %q", err, output, f.Want)
			}
		})
	}
}

// odd are values that a field may be given, whatever its type.
func odd() []string {
	long := strings.Repeat("x", 1100)
	return []string{
		"null", "0", "-1", "1", "2147483648", "9223372036854775808", "1e400", ".5", "0.5", "1.5", ".nan",
		".inf", "true", `""`, `" "`, `"0"`, `"-1"`, `"1"`, `"NaN"`, `"0.95"`, `"+0.6"`, `".6"`, `"0.6e0"`,
		`"1e3"`, `"0x1p-1"`, `"1e-30000000"`, `"0.0000000000000001"`, `"4k"`, "0s", `"0s"`, `"-5m"`, `"5m"`,
		`"3h"`, `"5M"`, `"1d"`, `"106751d"`, "[]", "[0]", "[null]", "{}", "{a: b}", `"a/b"`, `"../b"`, `"A B"`,
		`"ü"`, `"a\u0000b"`, `"other/llama"`, `"` + long + `"`, "Enforce", "Recommend", "Auto", "Fixed",
	}
}

// oddFields are the fields of a pool, with %s where the value stands; what they replace is in the minimal pool.
var oddFields = []struct{ replaces, field string }{
	{poolMembers, "  members: %s\n"},
	{poolMembers, "  members: [{forecast: %s}]\n"},
	{poolMembers, "  members: [{forecast: llama, chunks: %s}]\n"},
	{poolMembers, "  members: [{forecast: llama, namespace: %s}]\n"},
	{"  max: 8\n", "  max: %s\n"},
	{"", "  min: %s\n"},
	{"", "  fallback: %s\n"},
	{"", "  quantile: %s\n"},
	{"", "  mode: %s\n"},
	{"", "  leadTime: %s\n"},
	{"", "  leadTime: {mode: %s}\n"},
	{"", "  leadTime: {fallback: %s}\n"},
	{"", "  leadTime: {mode: Fixed, duration: %s}\n"},
	{"", "  budget: %s\n"},
	{"", "  budget: {idleGPUHoursPerDay: %s}\n"},
	{"", "  capacityTypes: %s\n"},
	{"", "  capacityTypes: [{name: %s}]\n"},
	{"", "  capacityTypes: [{name: a, nodeSelector: %s}]\n"},
	{"", "  capacityTypes: [{name: a, nodeSelector: {zone: %s}}]\n"},
	{"", "  actuator: %s\n"},
	{"", "  actuator: {placeholderPods: %s}\n"},
	{"", "  actuator: {placeholderPods: {priorityClassName: %s}}\n"},
	{"", "  actuator: {placeholderPods: {image: %s}}\n"},
	{"", "  actuator: {placeholderPods: {prePullImages: %s}}\n"},
	{"", "  actuator: {placeholderPods: {prePullImages: [%s]}}\n"},
	{"", "  actuator: {capacityBuffer: %s}\n"},
	{"", "  actuator: {capacityBuffer: {provisioningStrategy: %s}}\n"},
	{"", "  actuator: {scale: {targetRef: {kind: Deployment, name: %s}}}\n"},
	{"", "  actuator: {scale: {targetRef: {kind: %s, name: a}}}\n"},
	{"", "  actuator: {scale: {targetRef: {kind: Deployment, name: a, namespace: %s}}}\n"},
	{"chunk: {" + chunkPod, "chunk: {" + chunkPod + ", gpuEquivalent: %s"},
	{"chunk: {" + chunkPod + "}", "chunk: %s"},
	{chunkPod, "podTemplate: %s"},
	{`"1"}`, "%s}"},
	{"", "  %s: 3\n"},
}

// oddPool is the minimal pool with a value in a field.
func oddPool(replaces, field, value string) string {
	field = fmt.Sprintf(field, value)
	if replaces == "" {
		return minimalPool + field
	}
	return strings.Replace(minimalPool, replaces, field, 1)
}

// Whatever is written into whatever field, the pool is sound, or what is wrong is said in few words that name the place.
func TestOddPoolValues(t *testing.T) {
	for _, f := range oddFields {
		for _, value := range odd() {
			all, err := manifest.ReadPools("pool.yaml", []byte(oddPool(f.replaces, f.field, value)))
			if err == nil {
				for i := range all {
					soundPool(t, &all[i])
				}
				continue
			}
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "pool.yaml:") || len(line) > 1500 {
					t.Errorf("%s of %.40s: %.300s", strings.TrimSpace(f.field), value, line)
				}
			}
		}
	}
}

// The API server and forewarm judge alike: what the server lets through forewarm can work from, or says in the status what is
// wrong, and forewarm takes nothing from a file that the server would refuse.
func TestThePoolSchemaAndTheReadingAgree(t *testing.T) {
	c := apiservertest.Start(t)
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	pools := client.Resource(v1alpha1.GroupVersion().WithResource("warmpools")).Namespace("default")
	for _, f := range oddFields {
		for _, value := range odd() {
			text := strings.Replace(oddPool(f.replaces, f.field, value), "inference", "default", 1)
			about := fmt.Sprintf("%s of %.40s", strings.TrimSpace(f.field), value)
			object := &unstructured.Unstructured{}
			if yaml.Unmarshal([]byte(text), &object.Object) != nil {
				continue // No JSON can say it.
			}
			stored, refused := pools.Create(t.Context(), object, metav1.CreateOptions{
				DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
			})
			if refused != nil && !apierrors.IsInvalid(refused) && !apierrors.IsBadRequest(refused) {
				t.Fatalf("%s: %v", about, refused)
			}
			_, wrong := manifest.ReadPools("pool.yaml", []byte(text))
			if refused != nil {
				// A file may leave a text empty that has a default, and the quotes of a number with a point away.
				if lenient := value == `""` || strings.Contains(value, ".5"); wrong == nil && !lenient {
					t.Errorf("%s: a file may say it, the API server says %v", about, refused)
				}
				continue
			}
			decoded, err := manifest.PoolFromObject(stored.Object)
			if err == nil {
				_, problems := manifest.ResolvePool(decoded)
				err = problems.ToAggregate()
			}
			if (err == nil) != (wrong == nil) {
				t.Errorf("%s: from a cluster %v, from a file %v", about, err, wrong)
			}
		}
	}
}
