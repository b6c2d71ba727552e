package atzero

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrText means that a text is not that of a Record.
var ErrText = errors.New("not a record of times at zero")

const (
	version = "v1"
	// latest bounds the seconds since the epoch that a text may hold, so that no arithmetic overflows.
	latest = 1 << 40
)

// MarshalText writes the record as one line: the beginning of each time at zero in seconds since the epoch, and its
// length in seconds, which the last one may be without.
//
//	v1 1795262520+28800 1795348920+
func (r Record) MarshalText() ([]byte, error) {
	out := []byte(version)
	for _, s := range r.times {
		out = fmt.Appendf(out, " %d+", s.from)
		if s.until != ever {
			out = strconv.AppendInt(out, s.until-s.from, 10)
		}
	}
	return out, nil
}

// Read reads what MarshalText writes, and nothing else: times that overlap, that are too many, a sign or a zero too many
// are an error.
func Read(text string) (Record, error) {
	words := strings.SplitN(text, " ", most+2)
	if words[0] != version || len(words) > most+1 {
		return Record{}, fmt.Errorf("%d words that begin with %.16q, want %q and at most %d: %w",
			len(words), words[0], version, most, ErrText)
	}
	var read Record
	for i, word := range words[1:] {
		s, err := parse(word)
		if err != nil {
			return Record{}, err
		}
		if i > 0 && s.from < read.times[i-1].until {
			return Record{}, fmt.Errorf("%.32q does not come after the time before it: %w", word, ErrText)
		}
		read.times = append(read.times, s)
	}
	if again, err := read.MarshalText(); err != nil || string(again) != text {
		return Record{}, fmt.Errorf("%.64q is written differently: %w", text, ErrText)
	}
	return read, nil
}

// parse reads from+length.
func parse(word string) (span, error) {
	begin, length, _ := strings.Cut(word, "+")
	from, err := seconds(begin)
	if err != nil {
		return span{}, err
	}
	if length == "" {
		return span{from, ever}, nil
	}
	long, err := seconds(length)
	return span{from, from + long}, err
}

func seconds(digits string) (int64, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > latest {
		return 0, fmt.Errorf("%.32q, want a number from 0 to %d: %w", digits, int64(latest), ErrText)
	}
	return n, nil
}
