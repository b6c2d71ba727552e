package history

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// ErrForeign is for what was not written by this package, or was damaged since, or by a later version.
var ErrForeign = errors.New("not this agent's last hour")

const (
	// title opens a file; its number changes with the format.
	title = "forewarm-agent-hour 1"
	// largest file that is read: Most series with long names.
	largest = 16 << 20
	// longest name of anything in Kubernetes, with room.
	longest = 512
)

// document is an Hour as JSON. Means are little-endian float32s.
type document struct {
	Step  int64     `json:"step"` // nanoseconds
	Lines []written `json:"lines"`
}

type written struct {
	Series

	First int64  `json:"first"`
	Means []byte `json:"means"`
}

// Encode writes an hour: a line with a title and a checksum, then JSON.
func Encode(out io.Writer, hour Hour) error {
	d := document{Step: int64(Step), Lines: make([]written, len(hour.Lines))}
	for i, l := range hour.Lines {
		raw := make([]byte, 0, 4*len(l.Means))
		for _, mean := range l.Means {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(mean))
		}
		d.Lines[i] = written{Series: l.Series, First: l.First, Means: raw}
	}
	body, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("the last hour as JSON: %w", err)
	}
	if _, err = fmt.Fprintf(out, "%s %08x\n", title, crc32.ChecksumIEEE(body)); err != nil {
		return err
	}
	_, err = out.Write(body)
	return err
}

// Decode reads an hour. Anything else is ErrForeign, with what is wrong.
func Decode(in io.Reader) (Hour, error) {
	text, err := io.ReadAll(io.LimitReader(in, largest+1))
	if err != nil {
		return Hour{}, err
	}
	if len(text) > largest {
		return Hour{}, fmt.Errorf("more than %d MiB: %w", largest>>20, ErrForeign)
	}
	head, body, _ := bytes.Cut(text, []byte{'\n'})
	if want := fmt.Sprintf("%s %08x", title, crc32.ChecksumIEEE(body)); string(head) != want {
		return Hour{}, fmt.Errorf("it begins with %.40q instead of %q: %w", head, want, ErrForeign)
	}
	var d document
	if err = json.Unmarshal(body, &d); err != nil {
		return Hour{}, fmt.Errorf("%w: %w", err, ErrForeign)
	}
	if d.Step != int64(Step) || len(d.Lines) > Most {
		return Hour{}, fmt.Errorf("%d series at steps of %d ns: %w", len(d.Lines), d.Step, ErrForeign)
	}
	return d.hour()
}

// hour checks everything that a checksum does not: whoever wrote the file may be wrong.
func (d document) hour() (Hour, error) {
	var out Hour
	seen := make(map[Series]bool, len(d.Lines))
	for _, w := range d.Lines {
		l, ok := w.line()
		if !ok || seen[l.Series] {
			return Hour{}, fmt.Errorf("series %+.60q: %w", w.Series, ErrForeign)
		}
		seen[l.Series] = true
		out.Lines = append(out.Lines, l)
	}
	slices.SortFunc(out.Lines, func(a, b Line) int { return a.Series.Compare(b.Series) })
	return out, nil
}

func (w written) line() (Line, bool) {
	n := len(w.Means) / 4
	for _, name := range []string{w.UUID, w.Instance, w.Namespace, w.Pod, w.Container} {
		if len(name) > longest {
			return Line{}, false
		}
	}
	known := slices.Contains(Measures(), w.Measure)
	if !known || n == 0 || int64(n) > points || len(w.Means)%4 != 0 || w.First < 0 ||
		w.First > math.MaxInt64/2/int64(Step) {
		return Line{}, false
	}
	l := Line{Series: w.Series, First: w.First, Means: make([]float32, n)}
	for i := range l.Means {
		mean := math.Float32frombits(binary.LittleEndian.Uint32(w.Means[4*i:]))
		if mean < 0 || mean > 1 { // NaN is neither
			return Line{}, false
		}
		l.Means[i] = mean
	}
	return l, true
}
