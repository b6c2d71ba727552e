// Package printable keeps what others wrote (names, messages, files) from driving a terminal and from hiding what a text
// says: control characters, those that turn the direction of writing, and others that show nothing become what JSON
// escapes them to, such as \u001b, so that JSON that is written through it stays the same JSON.
//
// It belongs where text leaves the program, not where text is made: a Writer around stdout and stderr, Text around a
// rendered page or picture. Line is for one value of many in a line, which must not end that line.
package printable

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a text of several lines with all escaped that cannot be seen but line feeds and tabs. What is no UTF-8 becomes
// U+FFFD.
func Text(text string) string {
	return mapped(text, func(r rune) bool { return r == '\n' || r == '\t' || seen(r) })
}

// Line is Text of a single line: line feeds and tabs are escaped, too.
func Line(text string) string { return mapped(text, seen) }

// seen says that a character can be seen, or is a space of some width.
func seen(r rune) bool { return unicode.IsGraphic(r) }

// Clip keeps the beginning of a text that is longer than so many bytes, whole characters of it, and marks that it is cut.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func mapped(text string, keep func(rune) bool) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !keep(r) }) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case keep(r):
			out.WriteRune(r)
		case high == unicode.ReplacementChar:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}

// Writer writes Text. It may be written to from several goroutines.
type Writer struct {
	to io.Writer

	mu sync.Mutex
	// begun are the first bytes of a character whose others have not come yet.
	begun []byte
}

// NewWriter writes to another writer.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Unwrap is the writer behind it, for a terminal's own commands: what is written to it comes through as it is.
func (w *Writer) Unwrap() io.Writer { return w.to }

// Write implements io.Writer. All that it is given is written at once, but for a character that is not complete.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	whole := slices.Concat(w.begun, text)
	end := len(whole)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if !utf8.FullRune(whole[i:]) {
			end = i
			break
		}
	}
	w.begun = whole[end:]
	if _, err := w.to.Write([]byte(Text(string(whole[:end])))); err != nil {
		return 0, err
	}
	return len(text), nil
}
