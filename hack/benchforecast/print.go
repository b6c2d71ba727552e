package main

import (
	"encoding/json"
	"io"
	"math"
)

// printer prints rows as they are ready.
type printer interface {
	score(row scoreRow) error
	ablation(row ablationRow) error
	trace(row traceRow) error
	// tracesEnd comes after a model's last trace.
	tracesEnd(model string) error
	// end comes after the last row.
	end() error
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

// lines prints one JSON object on each line, for programs.
type lines struct {
	out io.Writer
}

func (l lines) score(row scoreRow) error       { return json.NewEncoder(l.out).Encode(row) }
func (l lines) ablation(row ablationRow) error { return json.NewEncoder(l.out).Encode(row) }
func (l lines) trace(row traceRow) error       { return json.NewEncoder(l.out).Encode(row) }
func (lines) tracesEnd(string) error           { return nil }
func (lines) end() error                       { return nil }
