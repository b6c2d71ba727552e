package warmpool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrText means that a text is not that of a Memory.
var ErrText = errors.New("not the memory of a pool")

const (
	version = "v1"
	// longestText bounds a text, in bytes: twice what the greatest numbers take.
	longestText = 4 << 10
	// most is the greatest time in it, and the greatest sum of chunks over time; mostHeld the greatest number of thousandths
	// of chunks. No arithmetic with them overflows.
	most, mostHeld = 1 << 50, 1000 * unlimited
)

// MarshalText writes the memory as one line of names and numbers, exactly:
//
//	v1 at=1795305600000 ready=4 placed=9000 had=9 day=20779 … wants=1795305480000:6:4,1795305600000:4:4
//
// A want is its time, the chunks wanted in all, and those of the first capacity type.
func (m Memory) MarshalText() ([]byte, error) {
	out := []byte(version)
	for _, f := range m.past.fields() {
		out = fmt.Appendf(out, " %s=%d", f.name, *f.value)
	}
	out = append(out, " wants="...)
	for i, w := range m.past.wants.all[:m.past.wants.n] {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%d:%d:%d", w.at, w.total, w.base)
	}
	return out, nil
}

// field is a number with the greatest value that it may have.
type field struct {
	name  string
	value *int64
	most  int64
}

func (m *past) fields() []field {
	return []field{
		{"at", &m.at, most},
		{"ready", &m.ready, unlimited},
		{"placed", &m.placed, mostHeld},
		{"had", &m.had, unlimited},
		{"day", &m.day, most},
		{"stood", &m.stood, most},
		{"unseen", &m.unseen, most},
		{"lost", &m.lost, mostHeld},
		{"gained", &m.gained, mostHeld},
		{"matching", &m.matching, most},
		{"borrowed", &m.borrowed, mostHeld},
		{"covers", &m.covers, 1},
		{"turning", &m.turning, most},
		{"doubted", &m.doubted, 1},
	}
}

// UnmarshalText reads what MarshalText writes, and nothing else: a field too many or too few, another order, a sign or a
// zero too many is an error, and leaves the memory as it was.
func (m *Memory) UnmarshalText(text []byte) error {
	if len(text) > longestText {
		return fmt.Errorf("%d bytes, want at most %d: %w", len(text), longestText, ErrText)
	}
	var read Memory
	words, fields := strings.Split(string(text), " "), read.past.fields()
	if want := len(fields) + 2; len(words) != want || words[0] != version {
		return fmt.Errorf("%d words that begin with %.16q, want %d and %q: %w",
			len(words), words[0], want, version, ErrText)
	}
	for i, f := range fields {
		digits, ok := strings.CutPrefix(words[1+i], f.name+"=")
		if !ok {
			return fmt.Errorf("%.32q, want %s=: %w", words[1+i], f.name, ErrText)
		}
		if err := f.parse(digits); err != nil {
			return err
		}
	}
	list, ok := strings.CutPrefix(words[len(words)-1], "wants=")
	if !ok {
		return fmt.Errorf("%.32q, want wants=: %w", words[len(words)-1], ErrText)
	}
	if err := read.past.wants.parse(list); err != nil {
		return err
	}
	if again, err := read.MarshalText(); err != nil || string(again) != string(text) {
		return fmt.Errorf("%.64q is written differently: %w", text, ErrText)
	}
	*m = read
	return nil
}

func (f field) parse(digits string) error {
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || v < 0 || v > f.most {
		return fmt.Errorf("%s: %.32q, want a number from 0 to %d: %w", f.name, digits, f.most, ErrText)
	}
	*f.value = v
	return nil
}

func (w *wants) parse(list string) error {
	if list == "" {
		return nil
	}
	for triple := range strings.SplitSeq(list, ",") {
		numbers := strings.Split(triple, ":")
		if len(numbers) != 3 || w.n == len(w.all) {
			return fmt.Errorf("wants: %.64q as number %d, want three numbers, %d times at most: %w",
				triple, w.n+1, len(w.all), ErrText)
		}
		read := &w.all[w.n]
		for i, f := range []field{
			{"wants", &read.at, most}, {"wants", &read.total, unlimited}, {"wants", &read.base, unlimited},
		} {
			if err := f.parse(numbers[i]); err != nil {
				return err
			}
		}
		w.n++
	}
	return nil
}
