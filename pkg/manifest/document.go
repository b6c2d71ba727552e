// Package manifest reads objects, from files and from a cluster. It resolves a Forecast into a Job of the refresh loop: it sets
// defaults, validates every field, renders the query, confines it to its namespace, and chooses the autoscalers that its objective
// is calibrated for. It resolves a WarmPool and a GPUFleet into the planners' inputs. Sub-package autoscaler reads HPAs and ScaledObjects.
//
// Files are read strictly: a field that does not exist, is given twice or has the wrong kind is a problem with its line. A Folder
// reads the Forecasts of YAML files; package forecasts watches the Kubernetes API. Both use the same Resolver. It finds all
// problems of an object at once, each with the field's path and what to write instead. An object with problems becomes an invalid
// Job; it does not stop the others.
package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Document is one YAML document of a file: a Forecast, or its problems.
type Document struct {
	File string
	// Line is where the document begins.
	Line int
	// Key of the Forecast, as far as the document can be read. The name is empty where the document has none.
	Key snapshot.Key
	// Object is nil where there are problems.
	Object   *v1alpha1.Forecast
	Problems []Problem
	// Partial is the readable part of an object with problems, which may have further problems. It may be nil.
	Partial *v1alpha1.Forecast

	// otherKind is true if the document has another kind.
	otherKind bool
	// reading has the lines of all fields, including fields with problems, which Partial lacks.
	reading Reading
}

// Unreadable reports whether the document's object is unknown: it has a syntax error, or no name. A document of
// another kind is not unreadable: it cannot be a Forecast.
func (d *Document) Unreadable() bool { return d.Key.Name == "" && !d.otherKind }

// Parse reads the Forecasts of a file, YAML or JSON, with documents separated by ---. Fields that do not exist or are
// given twice are problems of their document, with the line. A document with problems does not stop the others.
// Documents without content are skipped.
func Parse(file string, data []byte) []Document {
	read := RawDocuments(file, data)
	documents := make([]Document, len(read))
	for i, d := range read {
		documents[i] = parseDocument(d)
	}
	return documents
}

func parseDocument(from RawDocument) Document {
	d := Document{File: from.File, Line: from.Line}
	if from.Broken != nil {
		d.Problems = []Problem{*from.Broken}
		return d
	}
	if problem := wrongKind(from); problem != "" {
		d.otherKind = from.Text("apiVersion") != "" && from.Text("kind") != ""
		d.Problems = []Problem{{File: d.File, Line: d.Line, Text: problem}}
		return d
	}
	d.Key = snapshot.Key{
		Namespace: cmp.Or(from.Text("metadata", "namespace"), DefaultNamespace), Name: from.Text("metadata", "name"),
	}
	d.reading = from.Check(reflect.TypeFor[v1alpha1.Forecast]())
	d.Problems = d.reading.Problems
	object := &v1alpha1.Forecast{}
	err := from.Decode(object)
	object.Namespace = cmp.Or(object.Namespace, DefaultNamespace)
	switch sound := len(d.Problems) == 0; {
	case err == nil && sound:
		d.Object = object
	case err == nil:
		d.Partial = object
	case sound:
		d.Problems = []Problem{{File: d.File, Line: d.Line, Text: "read a Forecast: " + err.Error()}}
	}
	return d
}

// wrongKind says why a document is not a Forecast; empty if it is one.
func wrongKind(d RawDocument) string {
	if !d.IsObject() {
		return "is not an object: write apiVersion, kind, metadata and spec"
	}
	version, kind := d.Text("apiVersion"), d.Text("kind")
	want := v1alpha1.GroupVersion().String()
	switch {
	case version == want && kind == v1alpha1.ForecastKind:
		return ""
	case version == want && kind == v1alpha1.WarmPoolKind:
		return "a WarmPool needs a cluster: apply it to one, or simulate it with forewarm simulate --warm-pool"
	case version == want && kind == v1alpha1.GPUFleetKind:
		return "a GPUFleet needs a cluster: apply it to one"
	case version == want && kind == v1alpha1.DemandEventKind:
		return "a DemandEvent needs a cluster: apply it to one, or write it into spec.events of the Forecast"
	case strings.HasSuffix(kind, "List"):
		return fmt.Sprintf("kind %s has no items: add them, or write a document for each object",
			kind)
	}
	return fmt.Sprintf("apiVersion %q, kind %q is not supported here: write apiVersion: %s, kind: %s",
		version, kind, want, v1alpha1.ForecastKind)
}

// Locate adds the lines of an object's problems, except of those that follow from the problems of the document.
func (d *Document) Locate(problems field.ErrorList) []Problem {
	return d.reading.locate(d.Line, problems)
}
