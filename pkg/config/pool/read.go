package pool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/config"
	"github.com/forewarm/forewarm/pkg/config/strict"
)

// Written is a pool that a file holds.
type Written struct {
	// File and Line where it begins.
	File string
	Line int

	Resolved
}

// manifest is a WarmPool as a file holds it. Of metadata and status all is known: the API server writes much into them.
type manifest struct {
	APIVersion string                `json:"apiVersion"`
	Kind       string                `json:"kind"`
	Metadata   map[string]any        `json:"metadata"`
	Spec       v1alpha1.WarmPoolSpec `json:"spec"`
	Status     any                   `json:"status"`
}

// Read reads the pools of a file, YAML or JSON, several documents apart by ---. Every problem of every pool is in the
// error, with its line; there is no pool then. Documents of other kinds are passed over, unless there is nothing else.
func Read(file string, text []byte) ([]Written, error) {
	var out []Written
	var problems []error
	var others []string
	for _, d := range strict.Documents(file, text) {
		switch refused := notPool(&d); {
		case d.Broken != nil:
			problems = append(problems, d.Broken.Err())
		case refused != "":
			problems = append(problems, strict.Problem{File: file, Line: d.Line, Text: refused}.Err())
		case d.Text("kind") != v1alpha1.WarmPoolKind:
			others = append(others, cmp.Or(d.Text("kind"), "a document without kind"))
		default:
			resolved, err := read(d)
			out, problems = append(out, Written{File: file, Line: d.Line, Resolved: resolved}), append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, noneIn(file, others)
	}
	return out, nil
}

// notPool says why a document is none that can be read or passed over.
func notPool(d *strict.Document) string {
	if d.Root == nil {
		return ""
	}
	if !d.IsObject() {
		return "is not an object: write apiVersion, kind, metadata and spec"
	}
	version, kind := d.Text("apiVersion"), d.Text("kind")
	want := v1alpha1.GroupVersion().String()
	switch {
	case kind == v1alpha1.WarmPoolKind && version != want:
		return fmt.Sprintf("apiVersion %.64q is not read here: write apiVersion: %s", version, want)
	case strings.HasSuffix(kind, "List"):
		return fmt.Sprintf("kind %.64s is not read here: write a document for each, apart by ---", kind)
	}
	return ""
}

func noneIn(file string, others []string) error {
	const most = 10
	holds := "it is empty"
	if len(others) > 0 {
		holds = "it holds " + strings.Join(others[:min(len(others), most)], ", ")
	}
	return fmt.Errorf("%s: no %s (%s): %s", file, v1alpha1.WarmPoolKind, v1alpha1.GroupVersion(), holds)
}

// read reads a document and judges it; the problems that the text has and those of the object that it means come together.
func read(d strict.Document) (Resolved, error) {
	var m manifest
	reading := d.Check(reflect.TypeFor[manifest]())
	var problems []error
	for _, p := range reading.Problems {
		problems = append(problems, p.Err())
	}
	wrong := func(line int, text string) error { return strict.Problem{File: d.File, Line: line, Text: text}.Err() }
	if err := d.Decode(&m); err != nil {
		if len(problems) == 0 {
			problems = append(problems, wrong(d.Line, "read a WarmPool: "+err.Error()))
		}
		return Resolved{}, errors.Join(problems...)
	}
	resolved, found := Resolve(&v1alpha1.WarmPool{
		ObjectMeta: metav1.ObjectMeta{
			Name:      d.Text("metadata", "name"),
			Namespace: cmp.Or(d.Text("metadata", "namespace"), config.DefaultNamespace),
		},
		Spec: m.Spec,
	})
	for _, p := range found {
		if !reading.Known(p.Field) {
			problems = append(problems, wrong(cmp.Or(reading.LineOf(p.Field), d.Line), p.Error()))
		}
	}
	return resolved, errors.Join(problems...)
}

// FromObject decodes a pool as a cluster stores it. Its spec passes the same reading as a file's does: the schema knows
// nothing of the pod of a chunk, whose fields may not exist, and whose quantities may be such that parsing them takes
// seconds. The status is not read.
func FromObject(object map[string]any) (*v1alpha1.WarmPool, error) {
	pool := &v1alpha1.WarmPool{}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, errors.New("is no object: it has no metadata")
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &pool.ObjectMeta); err != nil {
		return nil, fmt.Errorf("read its metadata: %w", err)
	}
	pool.ManagedFields = nil
	text, err := json.Marshal(map[string]any{"spec": object["spec"]})
	if err != nil {
		return nil, fmt.Errorf("read its spec: %w", err)
	}
	documents := strict.Documents("", text)
	if len(documents) != 1 {
		return nil, fmt.Errorf("its spec is %d documents", len(documents))
	}
	d := documents[0]
	if d.Broken != nil {
		return nil, errors.New(d.Broken.Text)
	}
	var m manifest
	if reading := d.Check(reflect.TypeFor[manifest]()); len(reading.Problems) > 0 {
		return nil, errors.New(texts(reading.Problems))
	}
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("read its spec: %w", err)
	}
	pool.Spec = m.Spec
	return pool, nil
}

// texts are problems in a line, without places: a stored object has no lines.
func texts(problems []strict.Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Text)
	}
	return strings.Join(slices.Compact(out), "; ")
}

// Text is every problem in one line.
func Text(problems field.ErrorList) string { return config.Text(problems) }
