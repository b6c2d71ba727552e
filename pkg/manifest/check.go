package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// maxNodes limits the nodes of a document that are visited, because aliases can expand a small text to a huge one.
const maxNodes = 20_000

// Reading is the result of comparing a document with the type that it is decoded into.
type Reading struct {
	// Lines of the fields, by path: "spec.metrics[0].type".
	Lines map[string]int
	// Problems are in the order of the document.
	Problems []Problem

	// bad has the paths of the problems.
	bad    []string
	file   string
	offset int
	nodes  int
}

// Check finds all fields that do not exist, fields given twice and values of the wrong kind, and removes them from
// the document, so that the rest can be decoded. A field of type any accepts everything.
func (d RawDocument) Check(t reflect.Type) Reading {
	r := Reading{Lines: map[string]int{}, file: d.File, offset: d.begins - 1}
	r.check("", d.Root, t)
	return r
}

func (r *Reading) line(n *yaml.Node) int { return r.offset + n.Line }

func (r *Reading) add(n *yaml.Node, path, problem string) {
	r.bad = append(r.bad, path)
	if path == "" {
		path = "the object"
	}
	r.Problems = append(r.Problems, Problem{File: r.file, Line: r.line(n), Text: clip(path) + ": " + problem})
}

// lineOf returns the line of a field. If the field is absent, it returns the line of the nearest field around it; 0 if none is known.
func (r *Reading) lineOf(path string) int {
	for path != "" {
		if line, ok := r.Lines[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// locate adds lines to the problems of a document's object. It drops problems that are a consequence of problems found while reading.
func (r *Reading) locate(begins int, problems field.ErrorList) []Problem {
	var out []Problem
	for _, p := range problems {
		if !r.follows(p.Field) {
			out = append(out, Problem{File: r.file, Line: cmp.Or(r.lineOf(p.Field), begins), Text: p.Error()})
		}
	}
	return out
}

// follows reports whether a problem at a path is a consequence of a problem that was already found.
func (r *Reading) follows(path string) bool {
	return slices.ContainsFunc(r.bad, func(bad string) bool { return isWithin(path, bad) || isWithin(bad, path) })
}

// isWithin reports whether a path is the path of a field or of something in the field.
func isWithin(path, of string) bool {
	rest, found := strings.CutPrefix(path, of)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Errs returns the problems as errors.
func (r *Reading) Errs() []error {
	out := make([]error, len(r.Problems))
	for i, p := range r.Problems {
		out[i] = p.Err()
	}
	return out
}

// check compares a node with the type into which it is decoded. Null means absent, as in the Kubernetes API.
func (r *Reading) check(path string, n *yaml.Node, t reflect.Type) {
	r.nodes++
	if r.nodes > maxNodes {
		if r.nodes == maxNodes+1 {
			r.add(n, path, fmt.Sprintf("the document has more than %d values, including the ones behind aliases: "+
				"write fewer values", maxNodes))
		}
		return
	}
	r.Lines[path] = r.line(n)
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Tag == "!!null" {
		return
	}
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		r.quantity(path, n)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		r.scalar(path, n)
	default:
		r.checkKind(path, n, t)
	}
}

// quantity rejects a value that is not a quantity.
func (r *Reading) quantity(path string, n *yaml.Node) {
	if !r.scalar(path, n) {
		return
	}
	if _, err := parse.Quantity(n.Value); err != nil {
		r.refuse(n, path, err.Error())
	}
}

func (r *Reading) checkKind(path string, n *yaml.Node, t reflect.Type) {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		r.mapping(path, n, t)
	case reflect.Slice:
		r.sequence(path, n, t)
	case reflect.String:
		if r.scalar(path, n) && n.Tag == "!!timestamp" { // This is text for the Kubernetes API.
			n.Tag = "!!str"
		}
		if n.Kind == yaml.ScalarNode && n.Tag != "!!str" {
			if t == reflect.TypeFor[v1alpha1.Duration]() && n.Value != "" {
				r.refuse(n, path, fmt.Sprintf("%.64q has no unit: write for example 30s, 5m, 1h30m or 14d", n.Value))
				return
			}
			r.refuse(n, path, fmt.Sprintf("is not text: put it in quotes, %.64q", n.Value))
		}
	case reflect.Int32, reflect.Int64:
		if r.scalar(path, n) && n.Tag != "!!int" {
			r.refuse(n, path, fmt.Sprintf("%.64q is not a whole number: write one, without quotes", n.Value))
		}
	default:
		// Other kinds occur only in metadata; the decoder checks them.
	}
}

func (r *Reading) scalar(path string, n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return true
	}
	r.refuse(n, path, "is a "+nodeKind(n)+": write a single value")
	return false
}

func (r *Reading) sequence(path string, n *yaml.Node, t reflect.Type) {
	if n.Kind != yaml.SequenceNode {
		r.refuse(n, path, "is a "+nodeKind(n)+": write a list")
		return
	}
	for i, item := range n.Content {
		r.check(fmt.Sprintf("%s[%d]", path, i), item, t.Elem())
	}
}

func (r *Reading) mapping(path string, n *yaml.Node, t reflect.Type) {
	if n.Kind != yaml.MappingNode {
		r.refuse(n, path, "is a "+nodeKind(n)+": write fields with values")
		return
	}
	first, good := map[string]*yaml.Node{}, []*yaml.Node(nil)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		before, again := first[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
			r.add(key, at, "is not the name of a field: write plain text, without aliases and merges")
			continue
		case again:
			r.add(key, at, fmt.Sprintf("is given twice, the first time in line %d: keep one", r.line(before)))
			continue
		}
		first[key.Value] = key
		known, ok := fieldType(t, key.Value)
		if !ok {
			r.add(key, at, unknownField(t, key.Value))
			continue
		}
		r.check(at, value, known)
		good = append(good, key, value)
	}
	n.Content = good
}

// unknownField returns the problem for a field that a type does not have. If the field was removed, it says what to do instead.
func unknownField(t reflect.Type, name string) string {
	if t == reflect.TypeFor[v1alpha1.ForecastSpec]() && name == "follow" {
		return "unknown field, a Forecast can no longer follow another one: remove follow, and give the workload a Forecast of its own, " +
			"see docs/signals.md"
	}
	return "unknown field, the known fields are " + strings.Join(slices.Sorted(maps.Keys(fieldsOf(t))), ", ")
}

// refuse records a problem with a value, and makes the value absent.
func (r *Reading) refuse(n *yaml.Node, path, problem string) {
	r.add(n, path, problem)
	*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
}

func nodeKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "set of fields"
	case yaml.SequenceNode:
		return "list"
	default:
		return "single value"
	}
}

// fieldType returns the type of a struct's field or a map's values.
func fieldType(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	member, ok := fieldsOf(t)[name]
	return member, ok
}

// fieldsOf returns the fields of a struct by their JSON names, including those of inlined structs.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (name == "" || strings.Contains(options, "inline")):
			maps.Copy(out, fieldsOf(f.Type))
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}
