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
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// document is an object in a file, with a spec of type S.
type document[S any] struct {
	Header `json:",inline"`

	Spec S `json:"spec"`
}

// reads has how the objects of a kind, with specs of type S, are read and resolved to an R.
type reads[S, R any] struct {
	kind    string
	resolve func(metav1.ObjectMeta, S) (R, field.ErrorList)
}

func readsPools() reads[v1alpha1.WarmPoolSpec, ResolvedPool] {
	return reads[v1alpha1.WarmPoolSpec, ResolvedPool]{
		kind: v1alpha1.WarmPoolKind,
		resolve: func(meta metav1.ObjectMeta, spec v1alpha1.WarmPoolSpec) (ResolvedPool, field.ErrorList) {
			return ResolvePool(&v1alpha1.WarmPool{ObjectMeta: meta, Spec: spec})
		},
	}
}

func readsFleets() reads[v1alpha1.GPUFleetSpec, ResolvedFleet] {
	return reads[v1alpha1.GPUFleetSpec, ResolvedFleet]{
		kind: v1alpha1.GPUFleetKind,
		resolve: func(meta metav1.ObjectMeta, spec v1alpha1.GPUFleetSpec) (ResolvedFleet, field.ErrorList) {
			return ResolveFleet(&v1alpha1.GPUFleet{ObjectMeta: meta, Spec: spec})
		},
	}
}

// ReadPools reads the pools of a file, YAML or JSON, with documents separated by ---. The error has every problem of every
// pool, with its line. Documents of other kinds are skipped; it is an error if there is nothing else.
func ReadPools(file string, text []byte) ([]ResolvedPool, error) {
	return readsPools().file(file, text)
}

// ReadFleets is ReadPools for GPUFleets.
func ReadFleets(file string, text []byte) ([]ResolvedFleet, error) {
	return readsFleets().file(file, text)
}

func (k reads[S, R]) file(file string, text []byte) ([]R, error) {
	want := v1alpha1.GroupVersion().String()
	out, others, err := ReadKinds(file, text, func(d RawDocument) KindReader[R] {
		version, kind := d.Text("apiVersion"), d.Text("kind")
		switch {
		case kind != k.kind:
			return KindReader[R]{SkippedAs: cmp.Or(kind, "a document without kind")}
		case version != want:
			refused := fmt.Sprintf("apiVersion %.64q is not supported: write apiVersion: %s", version, want)
			return KindReader[R]{Refused: refused}
		}
		return KindReader[R]{Read: k.document}
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no %s (%s): %s", file, k.kind, want, others)
	}
	return out, err
}

// document reads and checks a document. The error has the problems of the text and of the object.
func (k reads[S, R]) document(d RawDocument) (resolved R, err error) {
	var m document[S]
	reading := d.Check(reflect.TypeFor[document[S]]())
	switch err := d.Decode(&m); {
	case err != nil && len(reading.Problems) == 0:
		return resolved, d.Err("read a " + k.kind + ": " + err.Error())
	case err != nil:
		return resolved, errors.Join(reading.Errs()...)
	}
	resolved, found := k.resolve(metav1.ObjectMeta{
		Name:      d.Text("metadata", "name"),
		Namespace: cmp.Or(d.Text("metadata", "namespace"), DefaultNamespace),
	}, m.Spec)
	reading.Problems = append(reading.Problems, reading.locate(d.Line, found)...)
	return resolved, errors.Join(reading.Errs()...)
}

// PoolFromObject decodes a pool as a cluster stores it. Its spec is read like a file's: the schema does not check the pod
// of a chunk, so fields may not exist, and quantities may take seconds to parse. The status is not read.
func PoolFromObject(object map[string]any) (*v1alpha1.WarmPool, error) {
	pool := &v1alpha1.WarmPool{}
	var err error
	pool.ObjectMeta, pool.Spec, err = fromObject[v1alpha1.WarmPoolSpec](object)
	return pool, err
}

// FleetFromObject is PoolFromObject for a GPUFleet.
func FleetFromObject(object map[string]any) (*v1alpha1.GPUFleet, error) {
	fleet := &v1alpha1.GPUFleet{}
	var err error
	fleet.ObjectMeta, fleet.Spec, err = fromObject[v1alpha1.GPUFleetSpec](object)
	return fleet, err
}

func fromObject[S any](object map[string]any) (meta metav1.ObjectMeta, spec S, err error) {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return meta, spec, errors.New("is not an object: it has no metadata")
	}
	if err = runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &meta); err != nil {
		return meta, spec, fmt.Errorf("read its metadata: %w", err)
	}
	meta.ManagedFields = nil
	text, failed := json.Marshal(map[string]any{"spec": object["spec"]})
	if failed != nil {
		return meta, spec, fmt.Errorf("read its spec: %w", failed)
	}
	d := RawDocuments("", text)[0] // JSON is always one document.
	if d.Broken != nil {
		return meta, spec, errors.New(d.Broken.Text)
	}
	var m document[S]
	if reading := d.Check(reflect.TypeFor[document[S]]()); len(reading.Problems) > 0 {
		return meta, spec, errors.New(joinTexts(reading.Problems))
	}
	if err = d.Decode(&m); err != nil {
		return meta, spec, fmt.Errorf("read its spec: %w", err)
	}
	return meta, m.Spec, nil
}

// joinTexts joins problems on one line without positions, because a stored object has no lines.
func joinTexts(problems []Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Text)
	}
	return strings.Join(slices.Compact(out), "; ")
}
