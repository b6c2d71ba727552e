package leadtime

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrText means that a text is not that of a Record.
var ErrText = errors.New("not a record of starts")

const (
	version = "v2"
	// older texts know no warm pools: neither starts on held nodes nor the lead times of the kinds.
	older = "v1"
	// maxText bounds a text, in bytes. A record of one workload has a few dozen buckets, which is some hundred bytes; one
	// with every bucket full of the greatest weights is 12 KiB.
	maxText = 16 << 10
)

// MarshalText writes the record as one line of digits and names, exactly:
//
//	v2 lead=253 before=0 since=1795262520 through=1795262400 period=10389
//	placedLead=241 placedBefore=0 placedSince=1795262520 waitedLead=0 waitedBefore=0 waitedSince=0
//	placed=11:113x11264 held=0 waited=3:131x3072
//
// A population is the number of its starts, and bucket x weight for each bucket that is not empty.
func (r *Record) MarshalText() ([]byte, error) { return r.write(version), nil }

// write is the record's text of a version; of an older one without what that did not know.
func (r *Record) write(v string) []byte {
	out := []byte(v)
	for _, f := range r.numbers(v) {
		out = fmt.Appendf(out, " %s=%d", f.name, *f.value)
	}
	for _, f := range r.populations(v) {
		out = fmt.Appendf(out, " %s=%d", f.name, f.value.count)
		separator := byte(':')
		for i, w := range f.value.histogram {
			if w != 0 {
				out = fmt.Appendf(append(out, separator), "%dx%d", i, w)
				separator = ','
			}
		}
	}
	return out
}

// number is a field with the greatest value that it may have, so that no arithmetic overflows.
type number struct {
	name  string
	value *int64
	most  int64
}

func (r *Record) numbers(v string) []number {
	const ever = 1 << 40
	out := append(r.all.numbers("lead", "before", "since"),
		number{"through", &r.through, ever}, number{"period", &r.period, ever})
	if v == older {
		return out
	}
	out = append(out, r.there.numbers("placedLead", "placedBefore", "placedSince")...)
	return append(out, r.node.numbers("waitedLead", "waitedBefore", "waitedSince")...)
}

func (c *choice) numbers(lead, before, since string) []number {
	const (
		seconds = int64(longest / time.Second)
		ever    = 1 << 40
	)
	return []number{{lead, &c.lead, seconds}, {before, &c.before, seconds}, {since, &c.since, ever}}
}

type kind struct {
	name  string
	value *population
}

func (r *Record) populations(v string) []kind {
	if v == older {
		return []kind{{"placed", &r.placed}, {"waited", &r.waited}}
	}
	return []kind{{"placed", &r.placed}, {"held", &r.held}, {"waited", &r.waited}}
}

// UnmarshalText reads what MarshalText writes, or wrote in the version before, and nothing else: another order, a bucket
// twice, a sign or a zero too many is an error, and leaves the record as it was.
func (r *Record) UnmarshalText(text []byte) error {
	if len(text) > maxText {
		return fmt.Errorf("%d bytes, want at most %d: %w", len(text), maxText, ErrText)
	}
	var read Record
	words := strings.Split(string(text), " ")
	v := version
	if words[0] == older {
		v = older
	}
	numbers, populations := read.numbers(v), read.populations(v)
	if want := 1 + len(numbers) + len(populations); len(words) != want || words[0] != v {
		return fmt.Errorf("%d words that begin with %.16q, want %d and %q: %w",
			len(words), words[0], want, v, ErrText)
	}
	words = words[1:]
	for i, f := range numbers {
		if err := parse(words[i], f); err != nil {
			return err
		}
	}
	for i, f := range populations {
		if err := f.value.parse(words[len(numbers)+i], f.name); err != nil {
			return err
		}
	}
	if string(read.write(v)) != string(text) {
		return fmt.Errorf("%.64q is written differently: %w", text, ErrText)
	}
	if v == older {
		// Nobody has used the lead times of the two kinds yet, and all read the same: so they are in use from the first second.
		read.chooseParts(time.Unix(0, 0).Add(-notice))
	}
	*r = read
	return nil
}

// parse reads name=value.
func parse(word string, n number) error {
	digits, ok := strings.CutPrefix(word, n.name+"=")
	if !ok {
		return fmt.Errorf("%.32q, want %s=: %w", word, n.name, ErrText)
	}
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || value < 0 || value > n.most {
		return fmt.Errorf("%s=%.32q, want a number from 0 to %d: %w", n.name, digits, n.most, ErrText)
	}
	*n.value = value
	return nil
}

func (p *population) parse(word, name string) error {
	head, rest, some := strings.Cut(word, ":")
	if err := parse(head, number{name, &p.count, heaviest}); err != nil || !some {
		return err
	}
	for pair := range strings.SplitSeq(rest, ",") {
		bucket, weight, _ := strings.Cut(pair, "x")
		i, err := strconv.Atoi(bucket)
		if err != nil || i < 0 || i >= buckets {
			return fmt.Errorf("%s: bucket %.32q, want a number from 0 to %d: %w", name, bucket, buckets-1, ErrText)
		}
		w, err := strconv.ParseInt(weight, 10, 64)
		if err != nil || w <= 0 || w > heaviest {
			return fmt.Errorf("%s: weight %.32q of bucket %d, want a number from 1 to %d: %w",
				name, weight, i, int64(heaviest), ErrText)
		}
		p.histogram[i] = w
	}
	return nil
}
