package collect

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// ErrFormat: a file was not written by this package, was damaged since, or was written by a later version.
var ErrFormat = errors.New("this version of the agent cannot read the file")

const (
	header        = "forewarm-agent-hour 1" // The start of a file; its number changes with the format.
	maxFileSize   = 16 << 20                // In bytes. The maximum number of series with long names fits.
	maxNameLength = 512                     // Longer than any name in Kubernetes.
)

// document is an Hour as JSON. Means are little-endian float32s.
type document struct {
	Step  int64         `json:"step"` // nanoseconds
	Lines []encodedLine `json:"lines"`
}

type encodedLine struct {
	Series

	First int64  `json:"first"`
	Means []byte `json:"means"`
}

// encode writes an hour: a line with a title and a checksum, then JSON.
func encode(out io.Writer, hour Hour) error {
	d := document{Step: int64(HistoryStep), Lines: make([]encodedLine, len(hour.Lines))}
	for i, l := range hour.Lines {
		raw := make([]byte, 0, 4*len(l.Means))
		for _, mean := range l.Means {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(mean))
		}
		d.Lines[i] = encodedLine{Series: l.Series, First: l.First, Means: raw}
	}
	body, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode the last hour as JSON: %w", err)
	}
	if _, err = fmt.Fprintf(out, "%s %08x\n", header, crc32.ChecksumIEEE(body)); err != nil {
		return err
	}
	_, err = out.Write(body)
	return err
}

// decode reads an hour. Its errors wrap ErrFormat.
func decode(in io.Reader) (Hour, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxFileSize+1))
	if err != nil {
		return Hour{}, err
	}
	if len(text) > maxFileSize {
		return Hour{}, fmt.Errorf("the file is larger than %d MiB: %w", maxFileSize>>20, ErrFormat)
	}
	head, body, _ := bytes.Cut(text, []byte{'\n'})
	if want := fmt.Sprintf("%s %08x", header, crc32.ChecksumIEEE(body)); string(head) != want {
		return Hour{}, fmt.Errorf("the file begins with %.40q instead of %q: %w", head, want, ErrFormat)
	}
	var d document
	if err = json.Unmarshal(body, &d); err != nil {
		return Hour{}, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	if d.Step != int64(HistoryStep) || len(d.Lines) > maxSeries {
		return Hour{}, fmt.Errorf("%d series at steps of %d ns: %w", len(d.Lines), d.Step, ErrFormat)
	}
	return d.hour()
}

// hour checks what a checksum cannot detect, because the program that wrote the file may be wrong.
func (d document) hour() (Hour, error) {
	var out Hour
	seen := make(map[Series]bool, len(d.Lines))
	for _, w := range d.Lines {
		l, ok := w.line()
		if !ok || seen[l.Series] {
			return Hour{}, fmt.Errorf("series %+.60q: %w", w.Series, ErrFormat)
		}
		seen[l.Series] = true
		out.Lines = append(out.Lines, l)
	}
	slices.SortFunc(out.Lines, func(a, b Line) int { return a.Series.Compare(b.Series) })
	return out, nil
}

func (w encodedLine) line() (Line, bool) {
	n := len(w.Means) / 4
	for _, name := range []string{w.UUID, w.Instance, w.Namespace, w.Pod, w.Container} {
		if len(name) > maxNameLength {
			return Line{}, false
		}
	}
	known := slices.Contains(Measures(), w.Measure)
	if !known || n == 0 || int64(n) > maxPoints || len(w.Means)%4 != 0 || w.First < 0 ||
		w.First > math.MaxInt64/2/int64(HistoryStep) {
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

// LoadHour reads the hour that SaveHour wrote to a file; the zero Hour where there is no file yet.
func LoadHour(path string) (Hour, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Hour{}, nil
	}
	if err != nil {
		return Hour{}, err
	}
	hour, err := decode(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return Hour{}, fmt.Errorf("%s: %w", path, err)
	}
	return hour, nil
}

// SaveHour writes an hour to a file atomically: after a crash the file holds either this hour or the previous one.
func SaveHour(path string, hour Hour) (err error) {
	// The name is fixed, so that an agent that is killed leaves at most one such file behind.
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
	}()
	out := bufio.NewWriter(file)
	if err = encode(out, hour); err != nil {
		return err
	}
	if err = errors.Join(out.Flush(), file.Sync()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return err
	}
	return errors.Join(file.Close(), syncFolder(filepath.Dir(path)))
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
