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

// figure is a number that may be undefined, such as a ratio to 0; it is null in JSON then.
type figure float64

// MarshalJSON writes null for a number that is not finite.
func (f figure) MarshalJSON() ([]byte, error) {
	if v := float64(f); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// lines prints one JSON object on each line, for programs. It leaves out the speed.
type lines struct {
	out io.Writer
}

func (l lines) m4(row m4Row) error       { return json.NewEncoder(l.out).Encode(row) }
func (l lines) trace(row traceRow) error { return json.NewEncoder(l.out).Encode(row) }
func (lines) tracesEnd(string) error     { return nil }
func (lines) speed(speedRow) error       { return nil }
