package informer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Size limits for the parts of an object that are read, in bytes of JSON. The largest valid Forecast or DemandEvent has about 40 KiB, and
// the largest status that Forewarm writes has about 60 KiB.
const (
	maxSpec       = 64 << 10
	maxStatus     = 128 << 10
	maxFinalizers = 8 << 10
	maxAnnotation = 256
	// maxAnnotations limits how many annotations of forewarm.dev are kept.
	maxAnnotations = 16
	// maxKey is the length of the longest key of a label or an annotation, including the quotes.
	maxKey = 253 + 1 + 63 + 2
)

// Slim returns a configuration of clients that receive of each object what Forewarm reads, and nothing else. Labels, managed
// fields, other owners' annotations and unknown fields are removed while an answer is received, so that they never are in
// memory, however many objects a list or a watch has. It applies to JSON, not to protobuf.
//
// Instead of a spec that is too large, the object has its size: see SpecProblem.
func Slim(cluster *rest.Config) *rest.Config {
	slim := rest.CopyConfig(cluster)
	slim.Wrap(func(next http.RoundTripper) http.RoundTripper { return slimmer{next} })
	return slim
}

// SpecProblem returns why the spec of an object was not read; empty where it was.
func SpecProblem(object *unstructured.Unstructured) string {
	if size, over := object.Object["spec"].(int64); over {
		return fmt.Sprintf("its spec is %d KiB of JSON, but Forewarm reads at most %d KiB: shorten the spec",
			size>>10, maxSpec>>10)
	}
	return FinalizersProblem(object)
}

// FinalizersProblem returns why the finalizers of an object were not read; empty where they were.
func FinalizersProblem(object *unstructured.Unstructured) string {
	size, found, err := unstructured.NestedInt64(object.Object, "metadata", "finalizers")
	if err != nil || !found {
		return ""
	}
	return fmt.Sprintf("its finalizers are %d KiB of JSON, but Forewarm reads at most %d KiB: remove some finalizers",
		size>>10, maxFinalizers>>10)
}

// CompareAge orders objects, the oldest first. Those that were created in the same second are ordered by name.
func CompareAge[T metav1.Object](a, b T) int {
	first, second := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(first.Compare(second.Time), strings.Compare(a.GetName(), b.GetName()))
}

// WithoutSpec returns what is kept of an object beyond a Bound.
func WithoutSpec(object *unstructured.Unstructured) *unstructured.Unstructured {
	stub := maps.Clone(object.Object)
	stub["spec"] = false
	return &unstructured.Unstructured{Object: stub}
}

// IsStub reports whether an object is one of WithoutSpec.
func IsStub(object *unstructured.Unstructured) bool {
	_, is := object.Object["spec"].(bool)
	return is
}

// GetBy returns a function that reads an object by a client, for a Bound.
func GetBy(
	client dynamic.NamespaceableResourceInterface,
) func(context.Context, string, string) (runtime.Object, error) {
	return func(ctx context.Context, namespace, name string) (runtime.Object, error) {
		return client.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	}
}

// slimmer removes the parts that Forewarm does not need from the answers of an API server.
type slimmer struct{ next http.RoundTripper }

func (s slimmer) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(request)
	if err != nil || answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated ||
		!strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
		return answer, err
	}
	const buffer = 16 << 10
	answer.Body = &slimBody{body: answer.Body, in: bufio.NewReaderSize(answer.Body, buffer)}
	answer.ContentLength = -1
	answer.Header.Del("Content-Length")
	return answer, nil
}

// slimBody is the body of a response: an object, a list of objects, or the events of a watch. It delivers each of them as soon as it is
// complete.
type slimBody struct {
	body io.Closer
	in   *bufio.Reader
	// out has the part of the current value that is kept.
	out bytes.Buffer
	err error
}

func (s *slimBody) Close() error { return s.body.Close() }

func (s *slimBody) Read(to []byte) (int, error) {
	for s.out.Len() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.out.Reset()
		if _, s.err = s.next(); s.err == nil {
			s.err = inside(s.members(s.answer))
			s.out.WriteByte('\n')
		}
	}
	return s.out.Read(to)
}

// answer copies a member at the top level of an answer.
func (s *slimBody) answer(key string) (keep bool, err error) {
	switch key {
	case "type": // The member of a watch event.
		return true, s.value(maxKey)
	case "object":
		return true, s.members(s.object)
	case "items":
		return true, s.list()
	}
	return s.object(key)
}

// object copies a member of an object. For a Status, it copies the reasons.
func (s *slimBody) object(key string) (keep bool, err error) {
	switch key {
	case "apiVersion", "kind", "message", "reason", "details", "code":
		return true, s.value(maxSpec)
	case "metadata":
		return true, s.members((&annotated{slimBody: s}).metadata)
	case "spec":
		return true, s.bounded(maxSpec, sizeOf)
	case "status":
		return true, s.bounded(maxStatus, func(int64) string { return "null" })
	}
	return false, nil
}

// annotated is the metadata of one object.
type annotated struct {
	*slimBody

	annotations int
}

func (a *annotated) metadata(key string) (keep bool, err error) {
	switch key {
	case "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"continue", "remainingItemCount": // The last two are members of a list.
		return true, a.value(maxSpec)
	case "finalizers":
		return true, a.bounded(maxFinalizers, sizeOf)
	case "managedFields": // Managed fields are read with the object, and are not kept.
		return true, a.value(maxSpec)
	case "annotations":
		return true, a.members(a.annotation)
	}
	return false, nil
}

func (a *annotated) annotation(key string) (keep bool, err error) {
	switch {
	case key == metav1.InitialEventsAnnotationKey: // This annotation marks the end of a streamed list.
	case !strings.HasPrefix(key, v1alpha1.GroupName+"/"), a.annotations == maxAnnotations:
		return false, nil
	default:
		a.annotations++
	}
	return true, a.bounded(maxAnnotation, func(int64) string { return `"(longer than is read)"` })
}

func sizeOf(size int64) string { return strconv.FormatInt(size, 10) }
