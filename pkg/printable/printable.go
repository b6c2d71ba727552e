// Package printable makes text from elsewhere (names, messages, files) safe to show: it cannot control a terminal or hide
// parts of itself. Control characters, those that change the direction of writing, and other invisible ones become
// their JSON escapes, such as \u001b, so JSON stays the same JSON.
//
// Use it where text leaves the program: a Writer around stdout and stderr, Text around a rendered page or picture. Line
// is for one value within a line, which must not end that line.
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

// Text escapes all invisible characters of a text but line feeds and tabs. Invalid UTF-8 becomes U+FFFD.
func Text(text string) string {
	return escaped(text, func(r rune) bool { return r == '\n' || r == '\t' || visible(r) })
}

// Line is Text for a single line: line feeds and tabs are escaped too.
func Line(text string) string { return escaped(text, visible) }

// visible reports whether a character is visible, or a space of some width.
func visible(r rune) bool { return unicode.IsGraphic(r) }

// Clip cuts a text that is longer than so many bytes, at a whole character, and marks the cut.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func escaped(text string, keep func(rune) bool) string {
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

// Writer writes Text. It is safe for concurrent use.
type Writer struct {
	to io.Writer

	mu sync.Mutex
	// partial holds the first bytes of an incomplete character.
	begun []byte
}

// NewWriter returns a Writer to another writer.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Unwrap returns the underlying writer, for terminal control sequences of the program's own.
func (w *Writer) Unwrap() io.Writer { return w.to }

// Write implements io.Writer. It writes everything at once, except for an incomplete character.
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
