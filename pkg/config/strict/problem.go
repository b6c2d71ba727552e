package strict

import (
	"errors"
	"strconv"
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
