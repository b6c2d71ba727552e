package manifest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
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

// Err is the same as an error.
func (p Problem) Err() error { return errors.New(p.String()) }

// Header is what objects of every kind have. Metadata and status accept everything: the API server writes much into
// them.
type Header struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Status     any            `json:"status"`
}

// KindReader reads documents of a kind, or refuses them; without either they are skipped.
type KindReader[T any] struct {
	Read    func(RawDocument) (T, error)
	Refused string
	// SkippedAs is what a skipped document is called in errors.
	SkippedAs string
}

// ReadKinds reads the documents of a file. kindOf returns how each is read. The error has every problem of every document,
// with its line; nothing is returned then. others lists the skipped documents in words.
func ReadKinds[T any](
	file string, data []byte, kindOf func(RawDocument) KindReader[T],
) (found []T, others string, err error) {
	var problems []error
	var passed []string
	for _, d := range RawDocuments(file, data) {
		if d.Broken != nil {
			problems = append(problems, d.Broken.Err())
			continue
		}
		switch kind := kindOf(d); {
		case !d.IsObject():
			problems = append(problems, d.Err("is not an object: write apiVersion, kind, metadata and spec"))
		case strings.HasSuffix(d.Text("kind"), "List"):
			problems = append(problems, d.Err(fmt.Sprintf(
				"kind %.64s is not supported here: write a document for each, separated by ---", d.Text("kind"))))
		case kind.Refused != "":
			problems = append(problems, d.Err(kind.Refused))
		case kind.Read != nil:
			one, err := kind.Read(d)
			found, problems = append(found, one), append(problems, err)
		default:
			passed = append(passed, kind.SkippedAs)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, "", err
	}
	return found, describeSkipped(passed), nil
}

// describeSkipped lists the skipped documents of a file.
func describeSkipped(others []string) string {
	const most = 10
	if len(others) == 0 {
		return "it is empty"
	}
	text := "it holds " + strings.Join(others[:min(most, len(others))], ", ")
	if more := len(others) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
