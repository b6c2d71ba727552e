// Package report is what a command found, for people and for scripts. A Record defines each figure once: its name and value for
// scripts, its heading and text for people. Records are encoded as JSON, Text writes sections of them for a terminal, and
// Templates has the fragments with which an HTML page shows them.
package report

import (
	"bytes"
	"encoding/json"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Record is figures in their order: the facts of a report or a row of a table, and an object in JSON.
type Record struct{ figures []*Figure }

// Figure is a number, a name or a time that people read as Text.
type Figure struct {
	// Name is the name for scripts, in camelCase; empty if only people read the figure.
	Name  string
	value any
	// Head is the heading for people, in one line or several; empty if only scripts read the figure. Title says what it means.
	Head, Title string
	Text        string
	// Mark follows the text in a terminal. HTML replaces the text in a page; a page has labels where a terminal has marks.
	Mark string
	HTML template.HTML
}

// Means sets the title.
func (f *Figure) Means(title string) { f.Title = title }

// HeadLines are the lines of the heading.
func (f *Figure) HeadLines() []string { return strings.Split(f.Head, "\n") }

// Label is the heading in one line, which stands before the figure on a narrow screen.
func (f *Figure) Label() string { return strings.ReplaceAll(f.Head, "\n", " ") }

// Records returns a record for each item of a slice.
func Records[T any](all []T, describe func(*Record, *T)) []*Record {
	out := make([]*Record, len(all))
	for i := range all {
		out[i] = &Record{}
		describe(out[i], &all[i])
	}
	return out
}

// Data adds a value that only scripts read.
func (r *Record) Data(name string, value any) { r.Add(name, "", value, "") }

// Text adds a text. Without a name only people read it.
func (r *Record) Text(name, head, text string) *Figure { return r.Add(name, head, text, text) }

// Number adds a number that people read as format writes it.
func (r *Record) Number(name, head string, v float64, format func(float64) string) *Figure {
	return r.Add(name, head, v, format(v))
}

// Add adds a figure with a value for scripts and a text for people. JSON has a duration in seconds, and null for NaN and
// infinity.
func (r *Record) Add(name, head string, value any, text string) *Figure {
	switch v := value.(type) {
	case time.Duration:
		value = v.Seconds()
	case float64:
		if !humanize.Known(v) {
			value = nil
		}
	}
	f := &Figure{Name: name, value: value, Head: head, Text: text}
	r.figures = append(r.figures, f)
	return f
}

// Shown returns the figures that people read.
func (r *Record) Shown() []*Figure {
	return slices.DeleteFunc(slices.Clone(r.figures), func(f *Figure) bool { return f.Head == "" })
}

// MarshalJSON implements json.Marshaler.
func (r *Record) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	out.WriteByte('{')
	for _, f := range r.figures {
		if f.Name == "" {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Quote(f.Name) + ":")
		if err := encoder.Encode(f.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
