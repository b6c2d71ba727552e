package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "sigs.k8s.io/json"

	"github.com/forewarm/forewarm/pkg/printable"
)

// Limits of a file.
const (
	MaxFile      = 1 << 20  // In bytes. A thousand Forecasts take about half of it.
	MaxDocuments = 1_000    // The objects of a file.
	MaxDocument  = 64 << 10 // In bytes. The limit of etcd is higher, and a Forecast is much smaller.
)

// RawDocument is one of a file.
type RawDocument struct {
	File string
	// Line is where the document begins.
	Line int
	// Root is its content; nil where it cannot be read.
	Root *yaml.Node
	// Broken is why it cannot be read.
	Broken *Problem

	// begins is the first line of the document's text.
	begins int
}

// RawDocuments reads a file, YAML or JSON, with documents separated by ---. A broken document does not stop the others.
// RawDocuments without content are skipped.
func RawDocuments(file string, data []byte) []RawDocument {
	if len(data) > MaxFile {
		text := fmt.Sprintf("the file has %d bytes, but at most %d are allowed: split the file", len(data), MaxFile)
		return []RawDocument{brokenDocument(file, 0, text)}
	}
	var documents []RawDocument
	for _, p := range splitDocuments(data) {
		if len(documents) == MaxDocuments {
			text := fmt.Sprintf("more than %d documents: split the file", MaxDocuments)
			return append(documents, brokenDocument(file, p.line, text))
		}
		d, empty := readPart(file, p)
		if empty {
			continue
		}
		documents = append(documents, d.items()...)
		if len(documents) > MaxDocuments {
			text := fmt.Sprintf("more than %d documents: split the file", MaxDocuments)
			return append(documents[:MaxDocuments], brokenDocument(file, p.line, text))
		}
	}
	return documents
}

// items returns the objects of a list, as kubectl prints several objects, or the document itself.
func (d RawDocument) items() []RawDocument {
	if d.Root == nil || !strings.HasSuffix(d.Text("kind"), "List") {
		return []RawDocument{d}
	}
	list := childNode(d.Root, "items")
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		return []RawDocument{d}
	}
	var all []RawDocument
	for _, item := range list.Content {
		all = append(all, RawDocument{File: d.File, Line: d.begins - 1 + item.Line, Root: item, begins: d.begins})
	}
	return all
}

// listKind matches the kind of a list.
var listKind = regexp.MustCompile(`(?m)^(?:kind:\s*['"]?|\s*"kind":\s*")\w*List\b`)

func brokenDocument(file string, line int, text string) RawDocument {
	return RawDocument{File: file, Line: line, Broken: &Problem{File: file, Line: line, Text: text}}
}

// part is the text of a document, with the number of its first line.
type part struct {
	line int
	text []byte
}

// splitDocuments splits a file where YAML ends a document: at a line that begins with --- or ... in the first column, even within a block
// of text. The rest of a line after --- belongs to the document.
func splitDocuments(data []byte) []part {
	var parts []part
	begin := part{line: 1}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		opens, closes := isMarker(line, "---"), isMarker(line, "...")
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

func isMarker(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || bytes.ContainsRune([]byte(" \t\r\n"), rune(rest[0])))
}

// readPart reads one part. empty is true if it has only comments.
func readPart(file string, p part) (d RawDocument, empty bool) {
	if len(p.text) > MaxDocument && !listKind.Match(p.text) {
		text := fmt.Sprintf("the document has %d bytes, but at most %d are allowed", len(p.text), MaxDocument)
		return brokenDocument(file, p.line, text), false
	}
	var root yaml.Node
	if err := yaml.Unmarshal(directives.ReplaceAll(p.text, nil), &root); err != nil {
		line, text := syntaxError(err)
		return brokenDocument(file, p.line+line-1, text), false
	}
	if len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return RawDocument{}, true
	}
	content := root.Content[0]
	return RawDocument{File: file, Line: p.line - 1 + content.Line, Root: content, begins: p.line}, false
}

// directives matches YAML directives such as %YAML 1.2, which are ignored.
var directives = regexp.MustCompile(`(?m)^%[^\n]*$`)

// yamlLine matches the beginning of the parser's messages.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError returns the line (counted from 1) and the text of the parser's error.
func syntaxError(err error) (line int, text string) {
	line = 1
	if m := yamlLine.FindStringSubmatch(err.Error()); len(m) > 1 && m[1] != "" {
		line, _ = strconv.Atoi(m[1]) //nolint:errcheck // The pattern admits digits only.
	}
	return max(line, 1), "is not YAML: " + clip(yamlLine.ReplaceAllString(err.Error(), ""))
}

// maxText limits a text that may repeat a long name from the file.
const maxText = 200

func clip(text string) string { return printable.Clip(text, maxText) }

// Decode decodes a document into an object. Call Check before: it removes quantities that must not be parsed.
func (d RawDocument) Decode(object any) error {
	var plain any
	if err := d.Root.Decode(&plain); err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}
	data, err := json.Marshal(plain)
	if err != nil {
		return fmt.Errorf("read YAML as JSON: %w", err)
	}
	// Names are case-sensitive, as in the API server. encoding/json would accept "Spec" for "spec".
	if err := utiljson.UnmarshalCaseSensitivePreserveInts(data, object); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// Err returns a problem of the document as a whole.
func (d RawDocument) Err(text string) error {
	return Problem{File: d.File, Line: d.Line, Text: text}.Err()
}

// IsObject reports whether a document is a set of fields, not a list or a single value.
func (d RawDocument) IsObject() bool { return d.Root.Kind == yaml.MappingNode }

// Text returns the text at a path of fields; empty where there is none.
func (d RawDocument) Text(path ...string) string {
	n := d.Root
	for _, key := range path {
		n = childNode(n, key)
	}
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return ""
	}
	return n.Value
}

func childNode(n *yaml.Node, key string) *yaml.Node {
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
