package pools //nolint:testpackage // What is kept of one object, without a cluster.

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// JSON of 60 KB may take megabytes in memory: such a pool is invalid, and keeps none of it.
func TestALargePoolIsInvalid(t *testing.T) {
	pool := func(tolerations int) *Pool {
		text := `{"apiVersion":"forewarm.dev/v1alpha1","kind":"WarmPool","metadata":{"name":"p","namespace":"n"},"spec":{"max":1,
			"mode":"Recommend","members":[{"forecast":"f"}],"chunk":{"gpuEquivalent":1,"podTemplate":{"spec":{"tolerations":[` +
			strings.TrimSuffix(
				strings.Repeat("{},", tolerations),
				",",
			) + `],"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}}}`
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return newPool(object)
	}
	if small := pool(100); small.Problem != "" || len(small.Spec.Members) != 1 {
		t.Errorf("a pool with 100 tolerations: %q", small.Problem)
	}
	const want = "its spec takes 1056 KiB of memory, but Forewarm keeps at most 256 KiB"
	if large := pool(
		15_000,
	); !strings.HasPrefix(large.Problem, want) || large.Resolved.Object != nil ||
		len(large.Spec.Members) > 0 {
		t.Errorf("%q, want %q", large.Problem, want)
	}
}
