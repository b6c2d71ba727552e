// Package terminal knows what a command writes to, and keeps what a server says from driving the terminal that shows it.
package terminal

import (
	"bytes"
	"io"
	"unicode"
)

// Plain writes text without its control characters.
func Plain(out io.Writer) io.Writer { return plain{out} }

type plain struct{ out io.Writer }

// Write implements io.Writer.
func (p plain) Write(text []byte) (int, error) {
	if _, err := p.out.Write(bytes.Map(Printable, text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Printable is a character, or a question mark for one that controls.
func Printable(r rune) rune {
	if r != '\n' && unicode.IsControl(r) {
		return '?'
	}
	return r
}
