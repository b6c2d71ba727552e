package main

import (
	"encoding/json"
	"io"
	"math"
)

// printer prints rows as they are ready.
type printer interface {
	m4(row m4Row) error
	trace(row traceRow) error
	// tracesEnd comes after a model's last trace.
	tracesEnd(model string) error
	speed(row speedRow) error
}

// figure is a number that may not exist, as a ratio to 0 does not: null then, in JSON.
type figure float64

// MarshalJSON writes null for what is not finite.
func (f figure) MarshalJSON() ([]byte, error) {
	if v := float64(f); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// lines prints a JSON object a line, for programs. Speed is for people.
type lines struct {
	out io.Writer
}

func (l lines) m4(row m4Row) error       { return json.NewEncoder(l.out).Encode(row) }
func (l lines) trace(row traceRow) error { return json.NewEncoder(l.out).Encode(row) }
func (lines) tracesEnd(string) error     { return nil }
func (lines) speed(speedRow) error       { return nil }
