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

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/strict"
)

// Written is a pool that a file holds.
type Written struct {
	// File and Line where it begins.
	File string
	Line int

	Resolved
}

// written is a WarmPool as a file holds it.
type written struct {
	strict.Header `json:",inline"`

	Spec v1alpha1.WarmPoolSpec `json:"spec"`
}

// Read reads the pools of a file, YAML or JSON, several documents apart by ---. Every problem of every pool is in the
// error, with its line; there is no pool then. Documents of other kinds are passed over, unless there is nothing else.
func Read(file string, text []byte) ([]Written, error) {
	want := v1alpha1.GroupVersion().String()
	out, others, err := strict.Read(file, text, func(d strict.Document) strict.Kind[Written] {
		version, kind := d.Text("apiVersion"), d.Text("kind")
		switch {
		case kind != v1alpha1.WarmPoolKind:
			return strict.Kind[Written]{Other: cmp.Or(kind, "a document without kind")}
		case version != want:
			refused := fmt.Sprintf("apiVersion %.64q is not read here: write apiVersion: %s", version, want)
			return strict.Kind[Written]{Refused: refused}
		}
		return strict.Kind[Written]{Read: read}
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no %s (%s): %s", file, v1alpha1.WarmPoolKind, want, others)
	}
	return out, err
}

// read reads a document and judges it; the problems that the text has and those of the object that it means come together.
func read(d strict.Document) (Written, error) {
	var m written
	reading := d.Check(reflect.TypeFor[written]())
	problems := reading.Errs()
	if err := d.Decode(&m); err != nil {
		if len(problems) == 0 {
			problems = append(problems, d.Err("read a WarmPool: "+err.Error()))
		}
		return Written{}, errors.Join(problems...)
	}
	resolved, found := Resolve(&v1alpha1.WarmPool{
		ObjectMeta: metav1.ObjectMeta{
			Name:      d.Text("metadata", "name"),
			Namespace: cmp.Or(d.Text("metadata", "namespace"), manifest.DefaultNamespace),
		},
		Spec: m.Spec,
	})
	for _, p := range found {
		if !reading.Known(p.Field) {
			at := strict.Problem{File: d.File, Line: cmp.Or(reading.LineOf(p.Field), d.Line), Text: p.Error()}
			problems = append(problems, at.Err())
		}
	}
	return Written{File: d.File, Line: d.Line, Resolved: resolved}, errors.Join(problems...)
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
	d := strict.Documents("", text)[0] // What is written as JSON is one.
	if d.Broken != nil {
		return nil, errors.New(d.Broken.Text)
	}
	var m written
	if reading := d.Check(reflect.TypeFor[written]()); len(reading.Problems) > 0 {
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
