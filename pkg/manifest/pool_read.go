package manifest

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
)

// poolDocument is a WarmPool in a file.
type poolDocument struct {
	Header `json:",inline"`

	Spec v1alpha1.WarmPoolSpec `json:"spec"`
}

// ReadPools reads the pools of a file, YAML or JSON, with documents separated by ---. The error has every problem of every
// pool, with its line. Documents of other kinds are skipped; it is an error if there is nothing else.
func ReadPools(file string, text []byte) ([]ResolvedPool, error) {
	want := v1alpha1.GroupVersion().String()
	out, others, err := ReadKinds(file, text, func(d RawDocument) KindReader[ResolvedPool] {
		version, kind := d.Text("apiVersion"), d.Text("kind")
		switch {
		case kind != v1alpha1.WarmPoolKind:
			return KindReader[ResolvedPool]{SkippedAs: cmp.Or(kind, "a document without kind")}
		case version != want:
			refused := fmt.Sprintf("apiVersion %.64q is not supported: write apiVersion: %s", version, want)
			return KindReader[ResolvedPool]{Refused: refused}
		}
		return KindReader[ResolvedPool]{Read: readPool}
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no %s (%s): %s", file, v1alpha1.WarmPoolKind, want, others)
	}
	return out, err
}

// readPool reads and checks a document. The error has the problems of the text and of the object.
func readPool(d RawDocument) (ResolvedPool, error) {
	var m poolDocument
	reading := d.Check(reflect.TypeFor[poolDocument]())
	switch err := d.Decode(&m); {
	case err != nil && len(reading.Problems) == 0:
		return ResolvedPool{}, d.Err("read a WarmPool: " + err.Error())
	case err != nil:
		return ResolvedPool{}, errors.Join(reading.Errs()...)
	}
	resolved, found := ResolvePool(&v1alpha1.WarmPool{
		ObjectMeta: metav1.ObjectMeta{
			Name:      d.Text("metadata", "name"),
			Namespace: cmp.Or(d.Text("metadata", "namespace"), DefaultNamespace),
		},
		Spec: m.Spec,
	})
	reading.Problems = append(reading.Problems, reading.locate(d.Line, found)...)
	return resolved, errors.Join(reading.Errs()...)
}

// PoolFromObject decodes a pool as a cluster stores it. Its spec is read like a file's: the schema does not check the pod
// of a chunk, so fields may not exist, and quantities may take seconds to parse. The status is not read.
func PoolFromObject(object map[string]any) (*v1alpha1.WarmPool, error) {
	pool := &v1alpha1.WarmPool{}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, errors.New("is not an object: it has no metadata")
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &pool.ObjectMeta); err != nil {
		return nil, fmt.Errorf("read its metadata: %w", err)
	}
	pool.ManagedFields = nil
	text, err := json.Marshal(map[string]any{"spec": object["spec"]})
	if err != nil {
		return nil, fmt.Errorf("read its spec: %w", err)
	}
	d := RawDocuments("", text)[0] // JSON is always one document.
	if d.Broken != nil {
		return nil, errors.New(d.Broken.Text)
	}
	var m poolDocument
	if reading := d.Check(reflect.TypeFor[poolDocument]()); len(reading.Problems) > 0 {
		return nil, errors.New(joinTexts(reading.Problems))
	}
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("read its spec: %w", err)
	}
	pool.Spec = m.Spec
	return pool, nil
}

// joinTexts joins problems on one line without positions, because a stored object has no lines.
func joinTexts(problems []Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Text)
	}
	return strings.Join(slices.Compact(out), "; ")
}
