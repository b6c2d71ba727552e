package pools //nolint:testpackage // The pages are internal.

import (
	"errors"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A list of any length is read page by page, and an error ends it.
func TestListsAreReadInPages(t *testing.T) {
	const pods = 3*listPage + 7
	broken := errors.New("no more")
	for _, failsAt := range []int{-1, 2} {
		calls, seen := 0, map[string]bool{}
		list := func(o metav1.ListOptions) (runtime.Object, error) {
			from := 0
			if o.Continue != "" {
				var err error
				if from, err = strconv.Atoi(o.Continue); err != nil {
					return nil, err
				}
			}
			if o.Limit != listPage || o.LabelSelector != "a=b" {
				t.Errorf("%d of %q are asked for", o.Limit, o.LabelSelector)
			}
			calls++
			if calls-1 == failsAt {
				return nil, broken
			}
			var out corev1.PodList
			for i := from; i < min(from+listPage, pods); i++ {
				out.Items = append(out.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i)}})
			}
			if from+listPage < pods {
				out.Continue = strconv.Itoa(from + listPage)
			}
			return &out, nil
		}
		err := eachItem(t.Context(), list, metav1.ListOptions{LabelSelector: "a=b"}, func(object runtime.Object) {
			if pod, is := object.(*corev1.Pod); is {
				seen[pod.Name] = true
			}
		})
		switch {
		case failsAt < 0 && (err != nil || len(seen) != pods || calls != 4):
			t.Errorf("%d pods in %d calls, %v", len(seen), calls, err)
		case failsAt >= 0 && !errors.Is(err, broken):
			t.Errorf("a page that fails: %v", err)
		}
	}
}
