package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest/strict"
)

// The limits of a file.
const (
	MaxFile      = strict.MaxFile
	MaxDocuments = strict.MaxDocuments
	MaxDocument  = strict.MaxDocument
)

// Problem is one thing wrong with a file.
type Problem = strict.Problem

// Document is one YAML document of a file: a Forecast, or what is wrong with it.
type Document struct {
	File string
	// Line is where the document begins.
	Line int
	// Key of the Forecast, as far as the document can be read; without a name nothing is known of what it was to be.
	Key snapshot.Key
	// Object is nil where there are problems.
	Object   *v1alpha1.Forecast
	Problems []Problem
	// Rest is what can be read of an object with problems, for further problems to be found in it; it may be nil.
	Rest *v1alpha1.Forecast

	// foreign documents are known to be something else.
	foreign bool
	// reading knows the lines of the fields, and those that Rest has not, because they have problems.
	reading strict.Reading
}

// Unreadable says that it is not known which object the document was to be: a syntax error, or no name. A document of
// another kind is not unreadable; it has no key, but it hides nothing.
func (d *Document) Unreadable() bool { return d.Key.Name == "" && !d.foreign }

// Parse reads the Forecasts of a file, YAML or JSON, several documents apart by ---. It is strict: a field that does not
// exist or is given twice is a problem of its document, with its line. A document with problems does not stop the
// others; documents without content are left out.
func Parse(file string, data []byte) []Document {
	read := strict.Documents(file, data)
	documents := make([]Document, len(read))
	for i, d := range read {
		documents[i] = parse(d)
	}
	return documents
}

func parse(from strict.Document) Document {
	d := Document{File: from.File, Line: from.Line}
	if from.Broken != nil {
		d.Problems = []Problem{*from.Broken}
		return d
	}
	if problem := wrongKind(from); problem != "" {
		d.foreign = from.Text("apiVersion") != "" && from.Text("kind") != ""
		d.Problems = []Problem{{File: d.File, Line: d.Line, Text: problem}}
		return d
	}
	d.Key = snapshot.Key{
		Namespace: cmp.Or(from.Text("metadata", "namespace"), DefaultNamespace), Name: from.Text("metadata", "name"),
	}
	d.reading = from.Check(reflect.TypeFor[v1alpha1.Forecast]())
	d.Problems = d.reading.Problems
	d.decode(from)
	return d
}

// decode makes the object of a document, or the rest of one that has problems already.
func (d *Document) decode(from strict.Document) {
	object := &v1alpha1.Forecast{}
	err := from.Decode(object)
	object.Namespace = cmp.Or(object.Namespace, DefaultNamespace)
	switch sound := len(d.Problems) == 0; {
	case err == nil && sound:
		d.Object = object
	case err == nil:
		d.Rest = object
	case sound:
		d.Problems = []Problem{{File: d.File, Line: d.Line, Text: "read a Forecast: " + err.Error()}}
	}
}

// wrongKind says why a document is no Forecast; empty where it is one.
func wrongKind(d strict.Document) string {
	if !d.IsObject() {
		return "is not an object: write apiVersion, kind, metadata and spec"
	}
	version, kind := d.Text("apiVersion"), d.Text("kind")
	want := v1alpha1.GroupVersion().String()
	switch {
	case version == want && kind == v1alpha1.ForecastKind:
		return ""
	case version == want && kind == v1alpha1.WarmPoolKind:
		return "a WarmPool holds nodes, which a folder has none of: apply it to a cluster, or see what it would be worth with " +
			"forewarm simulate --warm-pool"
	case strings.HasSuffix(kind, "List"):
		return fmt.Sprintf("kind %s is not read here: write one document for each Forecast, apart by ---", kind)
	}
	return fmt.Sprintf("apiVersion %q, kind %q is not read here: write apiVersion: %s, kind: %s",
		version, kind, want, v1alpha1.ForecastKind)
}

// Locate finds the lines of an object's problems.
func (d *Document) Locate(problems field.ErrorList) []Problem {
	out := make([]Problem, len(problems))
	for i, p := range problems {
		out[i] = Problem{File: d.File, Line: cmp.Or(d.reading.LineOf(p.Field), d.Line), Text: p.Error()}
	}
	return out
}

// Further locates the problems of the rest of an object, except where they follow from those that are known.
func (d *Document) Further(problems field.ErrorList) []Problem {
	return d.Locate(slices.DeleteFunc(problems, func(p *field.Error) bool { return d.reading.Known(p.Field) }))
}
