package informer //nolint:testpackage // The reader of one answer, without an API server.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func slimmed(text string, from func(io.Reader) io.Reader) (string, error) {
	body := &slimBody{body: io.NopCloser(nil), in: bufio.NewReaderSize(from(strings.NewReader(text)), 16)}
	out, err := io.ReadAll(body)
	return string(out), err
}

func whole(from io.Reader) io.Reader { return from }

func TestWhatIsReadOfAnObject(t *testing.T) {
	long := strings.Repeat("x", maxSpec)
	object := func(metadata, rest string) string {
		return `{"apiVersion":"forewarm.dev/v1alpha1","kind":"Forecast","metadata":{` + metadata + `}` + rest + `}`
	}
	for _, test := range []struct{ name, in, want string }{
		{
			"what is needed",
			object(`"annotations":{"forewarm.dev/pause":"true"},"creationTimestamp":null,"generation":2,"name":"a","uid":"u"`,
				`,"spec":{"labels":{"a":[1,"]}",null]}},"status":{"state":"Ready"}`),
			object(`"annotations":{"forewarm.dev/pause":"true"},"creationTimestamp":null,"generation":2,"name":"a","uid":"u"`,
				`,"spec":{"labels":{"a":[1,"]}",null]}},"status":{"state":"Ready"}`),
		},
		{
			"what is not",
			object(`"labels":{"a":"}\"\\"},"name":"a","ownerReferences":[{}],"annotations":{"kubectl.kubernetes.io/x":"{\"a\":1}"}`,
				`,"unknown":{"metadata":{"name":"b"}},"spec":{}`),
			object(`"name":"a","annotations":{}`, `,"spec":{}`),
		},
		{"white space", "\n { \"kind\" : \"A\" ,\n \"x\" : 1 , \"spec\" : { } } \n", `{"kind":"A","spec":{ }}`},
		{"a null", `{"metadata":null,"spec":null,"items":null}`, `{"metadata":null,"spec":null,"items":null}`},
		{"a spec at the limit", `{"spec":"` + long[2:] + `"}`, `{"spec":"` + long[2:] + `"}`},
		{"a larger spec", `{"spec":"` + long[1:] + `"}`, `{"spec":65537}`},
		{"a large status", `{"status":"` + long + long + `"}`, `{"status":null}`},
		{"a long key", `{"metadata":{"` + long + `":1,"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		{
			"large parts of the metadata",
			object(`"annotations":{"forewarm.dev/pause":"`+long+`"},"finalizers":["`+long+`"],"managedFields":["`+long+`"]`, ``),
			object(`"annotations":{"forewarm.dev/pause":"(longer than is read)"},"finalizers":65540,"managedFields":null`, ``),
		},
		{
			"a list", `{"items":[` + object(`"labels":{},"name":"a"`, "") + `,` + object(`"name":"b","labels":{}`, "") +
				`],"metadata":{"continue":"c","resourceVersion":"3","selfLink":"s"}}`,
			`{"items":[` + object(`"name":"a"`, "") + `,` + object(`"name":"b"`, "") + `],"metadata":{"continue":"c","resourceVersion":"3"}}`,
		},
		{
			"the events of a watch",
			`{"type":"ADDED","object":` + object(`"labels":{},"name":"a"`, "") + "}\n" +
				`{"type":"BOOKMARK","object":` + object(`"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"7"`, "") + "}\n" +
				`{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old","reason":"Expired","code":410}}`,
			`{"type":"ADDED","object":` + object(`"name":"a"`, "") + "}\n" +
				`{"type":"BOOKMARK","object":` + object(`"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"7"`, "") + "}\n" +
				`{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old","reason":"Expired","code":410}}`,
		},
	} {
		for name, from := range map[string]func(io.Reader) io.Reader{"at once": whole, "byte by byte": iotest.OneByteReader} {
			got, err := slimmed(test.in, from)
			if diff := cmp.Diff(test.want, strings.TrimSpace(got)); err != nil || diff != "" {
				t.Errorf("%s, %s: %v\n%.2000s", test.name, name, err, diff)
			}
		}
	}
}

func TestFewAnnotationsAreRead(t *testing.T) {
	annotations := map[string]string{}
	for i := range 2 * maxAnnotations {
		annotations[fmt.Sprintf("forewarm.dev/a%d", i)] = "v"
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := slimmed(string(text), whole)
	if n := strings.Count(got, "forewarm.dev/a"); err != nil || n != maxAnnotations {
		t.Errorf("%d annotations, want %d, %v", n, maxAnnotations, err)
	}
}

func TestAnAnswerThatEndsIsAnError(t *testing.T) {
	const text = `{"type":"ADDED","object":{"kind":"A","metadata":{"name":"a","labels":{"a":"b"}},"spec":{"a":[1]}}}`
	for i := 1; i < len(text); i++ {
		if _, err := slimmed(text[:i], whole); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %s: %v", text[:i], err)
		}
	}
}

func TestWhySpecsAreNotRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"spec":{"a":1}}`:                           "",
		`{"spec":1400000}`:                           "its spec is 1367 KiB of JSON, but Forewarm reads at most 64 KiB: shorten the spec",
		`{"metadata":{"finalizers":9216},"spec":{}}`: "its finalizers are 9 KiB of JSON, but Forewarm reads at most 8 KiB: remove some finalizers",
	} {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON([]byte(`{"kind":"A",` + text[1:])); err != nil {
			t.Fatal(err)
		}
		if got := SpecProblem(object); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// needed is what slimBody keeps of a small object, by the members of its decoded JSON.
func needed(value any, members map[string]any) any {
	from, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for key, child := range from {
		inner, known := members[key]
		switch of := inner.(type) {
		case map[string]any:
			out[key] = needed(child, of)
		default:
			if known {
				out[key] = child
			}
		}
	}
	return out
}

// What is read of a valid answer is what a decoder of all of it would keep; of any other text it is an end or an error.
func FuzzSlim(f *testing.F) {
	f.Add(`{"type":"ADDED","object":{"metadata":{"name":"a","labels":{"a":"}"}},"spec":{"a":[{}]},"x":1}}`)
	f.Add(`{"metadata":{"name":"\u0061","annotations":{}},"spec":[[]],"status":-1e5}`)
	f.Add(`{"a":[}`)
	f.Add(`[}`)
	object := map[string]any{
		"apiVersion": 0, "kind": 0, "message": 0, "reason": 0, "details": 0, "code": 0, "spec": 0, "status": 0,
		"metadata": map[string]any{
			"name":               0,
			"namespace":          0,
			"uid":                0,
			"resourceVersion":    0,
			"generation":         0,
			"creationTimestamp":  0,
			"deletionTimestamp":  0,
			"continue":           0,
			"remainingItemCount": 0,
			"finalizers":         0,
			"managedFields":      0,
			"annotations":        map[string]any{},
		},
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := slimmed(text, whole)
		var in map[string]any
		if json.Unmarshal([]byte(text), &in) != nil || strings.Contains(text, `\`) || len(text) > maxKey ||
			strings.Contains(text, "items") || strings.Contains(text, "forewarm") || strings.Contains(text, "k8s.io") {
			return // It ended, which is what is tested.
		}
		var out map[string]any
		if err != nil || json.Unmarshal([]byte(got), &out) != nil {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		answer := map[string]any{"type": 0, "object": object}
		maps.Copy(answer, object)
		if in == nil {
			return
		}
		if diff := cmp.Diff(needed(in, answer), any(out)); diff != "" {
			t.Errorf("%q became %q:\n%s", text, got, diff)
		}
	})
}
