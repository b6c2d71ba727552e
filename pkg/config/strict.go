package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds a walk over a document: aliases can make a small text mean a huge one.
const maxNodes = 20_000

// strict walks a document beside the Go type that it is to become. It finds fields that do not exist, fields given
// twice and values of the wrong kind, all of them, takes them out of the document, so that the rest can be looked at,
// and remembers on which line each field stands.
type strict struct {
	file     string
	offset   int
	lines    map[string]int
	problems []Problem
	// bad are the paths of the problems.
	bad   []string
	nodes int
}

func (s *strict) line(n *yaml.Node) int { return s.offset + n.Line }

func (s *strict) add(n *yaml.Node, path, problem string) {
	s.bad = append(s.bad, path)
	if path == "" {
		path = "the object"
	}
	s.problems = append(s.problems, Problem{File: s.file, Line: s.line(n), Text: path + ": " + problem})
}

// check compares a node with the type that it is to become. Null is as good as absent, as in the Kubernetes API.
func (s *strict) check(path string, n *yaml.Node, t reflect.Type) {
	s.nodes++
	if s.nodes > maxNodes {
		if s.nodes == maxNodes+1 {
			s.add(n, path, fmt.Sprintf("more than %d values with aliases followed: write fewer", maxNodes))
		}
		return
	}
	s.lines[path] = s.line(n)
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Tag == "!!null" {
		return
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		s.scalar(path, n)
		return
	}
	s.checkKind(path, n, t)
}

func (s *strict) checkKind(path string, n *yaml.Node, t reflect.Type) {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		s.mapping(path, n, t)
	case reflect.Slice:
		s.sequence(path, n, t)
	case reflect.String:
		if s.scalar(path, n) && n.Tag != "!!str" {
			s.add(n, path, fmt.Sprintf("is not text: put it in quotes, %q", n.Value))
			clearNode(n)
		}
	case reflect.Int32, reflect.Int64:
		if s.scalar(path, n) && n.Tag != "!!int" {
			s.add(n, path, fmt.Sprintf("%.64q is not a whole number: write one, without quotes", n.Value))
			clearNode(n)
		}
	default:
		// Other kinds occur only inside of metadata; the decoder judges them.
	}
}

func (s *strict) scalar(path string, n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return true
	}
	s.add(n, path, "is a "+kindOf(n)+": write a single value")
	clearNode(n)
	return false
}

func (s *strict) sequence(path string, n *yaml.Node, t reflect.Type) {
	if n.Kind != yaml.SequenceNode {
		s.add(n, path, "is a "+kindOf(n)+": write a list")
		clearNode(n)
		return
	}
	for i, item := range n.Content {
		s.check(fmt.Sprintf("%s[%d]", path, i), item, t.Elem())
	}
}

func (s *strict) mapping(path string, n *yaml.Node, t reflect.Type) {
	if n.Kind != yaml.MappingNode {
		s.add(n, path, "is a "+kindOf(n)+": write fields with values")
		clearNode(n)
		return
	}
	first, good := map[string]*yaml.Node{}, []*yaml.Node(nil)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		before, again := first[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
			s.add(key, at, "is not a field's name: names are text, without aliases and merges")
			continue
		case again:
			s.add(key, at, fmt.Sprintf("is given twice, first in line %d: keep one", s.line(before)))
			continue
		}
		first[key.Value] = key
		known, ok := memberOf(t, key.Value)
		if !ok {
			s.add(key, at, "unknown field, known are "+strings.Join(slices.Sorted(maps.Keys(fields(t))), ", "))
			continue
		}
		s.check(at, value, known)
		good = append(good, key, value)
	}
	n.Content = good
}

// clearNode makes a value as good as absent.
func clearNode(n *yaml.Node) {
	*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "set of fields"
	case yaml.SequenceNode:
		return "list"
	default:
		return "single value"
	}
}

// memberOf is the type of what a struct or a map holds under a name.
func memberOf(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	member, ok := fields(t)[name]
	return member, ok
}

// fields are the fields of a struct by their names in JSON, those of inlined structs included.
func fields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (name == "" || strings.Contains(options, "inline")):
			maps.Copy(out, fields(f.Type))
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}
