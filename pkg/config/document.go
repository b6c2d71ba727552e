package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utiljson "sigs.k8s.io/json"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// The limits of a file.
const (
	// MaxFile bounds a file of objects, in bytes: a thousand Forecasts are about half of one.
	MaxFile = 1 << 20
	// MaxDocuments bounds the objects of a file.
	MaxDocuments = 1_000
	// MaxDocument bounds one object, in bytes: etcd's own limit is near it, a Forecast is a hundredth.
	MaxDocument = 64 << 10
)

// Problem is one thing wrong with a file.
type Problem struct {
	File string
	// Line counts from 1; 0 where it is not known.
	Line int
	// Text names the field and says what to write instead.
	Text string
}

// String is file:line: text.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ": " + p.Text
}

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
	lines   map[string]int
	// bad are the paths of the fields that Rest has not, because they have problems.
	bad []string
}

// Unreadable says that it is not known which object the document was to be: a syntax error, or no name. A document of
// another kind is not unreadable; it has no key, but it hides nothing.
func (d *Document) Unreadable() bool { return d.Key.Name == "" && !d.foreign }

// Parse reads the Forecasts of a file, YAML or JSON, several documents apart by ---. It is strict: a field that does not
// exist or is given twice is a problem of its document, with its line. A document with problems does not stop the
// others; documents without content are left out.
func Parse(file string, data []byte) []Document {
	if len(data) > MaxFile {
		return []Document{broken(file, 0, fmt.Sprintf("%d bytes, more than %d: split the file", len(data), MaxFile))}
	}
	var documents []Document
	for _, part := range split(data) {
		if len(documents) == MaxDocuments {
			text := fmt.Sprintf("more than %d documents: split the file", MaxDocuments)
			return append(documents, broken(file, part.line, text))
		}
		if document, empty := parseDocument(file, part); !empty {
			documents = append(documents, document)
		}
	}
	return documents
}

func broken(file string, line int, text string) Document {
	return Document{File: file, Line: line, Problems: []Problem{{File: file, Line: line, Text: text}}}
}

// part is the text of a document and the line where it begins.
type part struct {
	line int
	text []byte
}

// split cuts a file where YAML ends a document: at a line that begins with --- or ... in the first column, which means
// that even inside of a text block. What follows --- on its line belongs to the document.
func split(data []byte) []part {
	var parts []part
	begin := part{line: 1}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		opens, closes := marks(line, "---"), marks(line, "...")
		if opens || closes {
			parts = append(parts, begin)
			begin = part{line: number}
		}
		switch {
		case opens:
			line = append([]byte("   "), line[3:]...)
		case closes:
			line = []byte("\n")
		}
		begin.text = append(begin.text, line...)
	}
	return append(parts, begin)
}

func marks(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || bytes.ContainsRune([]byte(" \t\r\n"), rune(rest[0])))
}

// parseDocument reads one part; empty says that it holds nothing but comments.
func parseDocument(file string, p part) (document Document, empty bool) {
	if len(p.text) > MaxDocument {
		text := fmt.Sprintf("a document of %d bytes, more than %d", len(p.text), MaxDocument)
		return broken(file, p.line, text), false
	}
	var root yaml.Node
	if err := yaml.Unmarshal(directives.ReplaceAll(p.text, nil), &root); err != nil {
		line, text := syntaxError(err)
		return broken(file, p.line+line-1, text), false
	}
	if len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return Document{}, true
	}
	s := strict{file: file, offset: p.line - 1, lines: map[string]int{}}
	content := root.Content[0]
	document = Document{File: file, Line: s.line(content), Key: keyOf(content), lines: s.lines}
	if problem := wrongKind(content); problem != "" {
		document.Key = snapshot.Key{}
		document.foreign = text(child(content, "apiVersion")) != "" && text(child(content, "kind")) != ""
		document.Problems = []Problem{{File: file, Line: document.Line, Text: problem}}
		return document, false
	}
	s.check("", content, reflect.TypeFor[v1alpha1.Forecast]())
	document.Problems, document.bad = s.problems, s.bad
	document.decode(content)
	return document, false
}

// directives are YAML's own, such as %YAML 1.2; they say nothing that matters here.
var directives = regexp.MustCompile(`(?m)^%[^\n]*$`)

// yamlLine is how the parser begins its messages.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError is the line, from 1, and the text of the parser's error.
func syntaxError(err error) (line int, text string) {
	line = 1
	if m := yamlLine.FindStringSubmatch(err.Error()); len(m) > 1 && m[1] != "" {
		line, _ = strconv.Atoi(m[1]) //nolint:errcheck // The pattern admits digits only.
	}
	return max(line, 1), "is not YAML: " + yamlLine.ReplaceAllString(err.Error(), "")
}

// decode makes the object of a document, or the rest of one that has problems already.
func (d *Document) decode(content *yaml.Node) {
	object := &v1alpha1.Forecast{}
	err := decode(content, object)
	if err != nil && len(d.Problems) > 0 {
		return
	}
	if err != nil {
		d.Problems = append(d.Problems, Problem{File: d.File, Line: d.Line, Text: err.Error()})
		return
	}
	if object.Namespace == "" {
		object.Namespace = DefaultNamespace
	}
	if len(d.Problems) > 0 {
		d.Rest = object
		return
	}
	d.Object = object
}

func decode(content *yaml.Node, object *v1alpha1.Forecast) error {
	var plain any
	if err := content.Decode(&plain); err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}
	if object, ok := plain.(map[string]any); ok {
		if err := CheckQuantities(object); err != nil {
			return err
		}
	}
	data, err := json.Marshal(plain)
	if err != nil {
		return fmt.Errorf("read YAML as JSON: %w", err)
	}
	// Case counts: in the API server it does too, and encoding/json would take "Spec" for "spec".
	if err := utiljson.UnmarshalCaseSensitivePreserveInts(data, object); err != nil {
		return fmt.Errorf("read a Forecast: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// keyOf is the name that a document gives itself.
func keyOf(content *yaml.Node) snapshot.Key {
	metadata := child(content, "metadata")
	key := snapshot.Key{Namespace: text(child(metadata, "namespace")), Name: text(child(metadata, "name"))}
	if key.Namespace == "" {
		key.Namespace = DefaultNamespace
	}
	return key
}

// wrongKind says why a document is no Forecast; empty where it is one.
func wrongKind(content *yaml.Node) string {
	if content.Kind != yaml.MappingNode {
		return "is not an object: write apiVersion, kind, metadata and spec"
	}
	version, kind := text(child(content, "apiVersion")), text(child(content, "kind"))
	want := v1alpha1.GroupVersion().String()
	switch {
	case version == want && kind == v1alpha1.ForecastKind:
		return ""
	case strings.HasSuffix(kind, "List"):
		return fmt.Sprintf("kind %s is not read here: write one document for each Forecast, apart by ---", kind)
	}
	return fmt.Sprintf("apiVersion %q, kind %q is not read here: write apiVersion: %s, kind: %s",
		version, kind, want, v1alpha1.ForecastKind)
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return ""
	}
	return n.Value
}

// Locate finds the lines of an object's problems.
func (d *Document) Locate(problems field.ErrorList) []Problem {
	out := make([]Problem, len(problems))
	for i, p := range problems {
		out[i] = Problem{File: d.File, Line: d.lineOf(p.Field), Text: p.Error()}
	}
	return out
}

// Further locates the problems of the rest of an object, except where they follow from those that are known.
func (d *Document) Further(problems field.ErrorList) []Problem {
	return d.Locate(slices.DeleteFunc(problems, func(p *field.Error) bool {
		return slices.ContainsFunc(d.bad, func(bad string) bool { return under(p.Field, bad) || under(bad, p.Field) })
	}))
}

// under says whether a path is that of a field or of something in it.
func under(path, of string) bool {
	rest, found := strings.CutPrefix(path, of)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// lineOf is the line of a field or, where it is not written, of the nearest field around it.
func (d *Document) lineOf(path string) int {
	for path != "" {
		if line, ok := d.lines[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return d.Line
}
