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
	// most is the greatest number in it, so that no arithmetic overflows.
	most = 1 << 50
)

// MarshalText writes the memory as one line of names and numbers, exactly:
//
//	v1 at=1795305600000 ready=4 placed=9000 day=20779 … wants=1795305480000:6:4,1795305600000:4:4
//
// A want is its time, the chunks wanted in all, and those of the first capacity type.
func (m Memory) MarshalText() ([]byte, error) {
	out := []byte(version)
	for _, f := range m.fields() {
		out = fmt.Appendf(out, " %s=%d", f.name, *f.value)
	}
	out = append(out, " wants="...)
	for i, w := range m.wants.all[:m.wants.n] {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%d:%d:%d", w.at, w.total, w.base)
	}
	return out, nil
}

type field struct {
	name  string
	value *int64
}

func (m *Memory) fields() []field {
	return []field{
		{"at", &m.at}, {"ready", &m.ready}, {"placed", &m.placed},
		{"day", &m.day}, {"stood", &m.stood}, {"unseen", &m.unseen},
		{"lost", &m.lost}, {"gained", &m.gained}, {"matching", &m.matching}, {"borrowed", &m.borrowed},
		{"covers", &m.covers}, {"turning", &m.turning}, {"doubted", &m.doubted},
	}
}

// UnmarshalText reads what MarshalText writes, and nothing else: a field too many or too few, another order, a sign or a
// zero too many is an error, and leaves the memory as it was.
func (m *Memory) UnmarshalText(text []byte) error {
	if len(text) > longestText {
		return fmt.Errorf("%d bytes, want at most %d: %w", len(text), longestText, ErrText)
	}
	var read Memory
	words, fields := strings.Split(string(text), " "), read.fields()
	if want := len(fields) + 2; len(words) != want || words[0] != version {
		return fmt.Errorf("%d words that begin with %.16q, want %d and %q: %w", len(words), words[0], want, version, ErrText)
	}
	for i, f := range fields {
		digits, ok := strings.CutPrefix(words[1+i], f.name+"=")
		if !ok {
			return fmt.Errorf("%.32q, want %s=: %w", words[1+i], f.name, ErrText)
		}
		if err := parse(digits, f.value); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	list, ok := strings.CutPrefix(words[len(words)-1], "wants=")
	if !ok {
		return fmt.Errorf("%.32q, want wants=: %w", words[len(words)-1], ErrText)
	}
	if err := read.wants.parse(list); err != nil {
		return err
	}
	if again, err := read.MarshalText(); err != nil || string(again) != string(text) {
		return fmt.Errorf("%.64q is written differently: %w", text, ErrText)
	}
	*m = read
	return nil
}

func parse(digits string, value *int64) error {
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || v < 0 || v > most {
		return fmt.Errorf("%.32q, want a number from 0 to %d: %w", digits, int64(most), ErrText)
	}
	*value = v
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
		for i, value := range []*int64{&read.at, &read.total, &read.base} {
			if err := parse(numbers[i], value); err != nil {
				return fmt.Errorf("wants: %w", err)
			}
		}
		w.n++
	}
	return nil
}
