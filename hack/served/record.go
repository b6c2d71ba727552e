package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// entry is what was served in a play.
type entry struct {
	name string
	// demand hashes all of the demand, so that another demand is not taken for another value.
	demand uint32
	hours  []hour
}

// record is a file of entries, by their names.
type record map[string]entry

func recordPath(dir string, k kind) string { return filepath.Join(dir, string(k)+".txt") }

// hourFormat is how a line's first hour is written; the others of its day follow.
const hourFormat = "2006-01-02T15"

// preface of a file.
const preface = `# What forewarm serves, as hashes: see hack/served. To write it anew: make test-served UPDATE=1
# A line has the first hour of a day and a hash of what was served in each hour from there on.
`

// text of the record, in the order of the plays.
func (r record) text(plays []play) string {
	var out strings.Builder
	out.WriteString(preface)
	for _, p := range plays {
		e, there := r[p.String()]
		if !there {
			continue
		}
		fmt.Fprintf(&out, "\n[%s] demand %08x", e.name, e.demand)
		for i, h := range e.hours {
			if i == 0 || h.at.Hour() == 0 {
				out.WriteString("\n" + h.at.Format(hourFormat))
			}
			fmt.Fprintf(&out, " %08x", h.sum)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// readRecord reads the file of a kind; one that is not there is empty.
func readRecord(dir string, k kind) (record, error) {
	path := recordPath(dir, k)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := parseRecord(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; to write it anew: make test-served UPDATE=1", path, err)
	}
	return r, nil
}

func parseRecord(text string) (record, error) {
	out := record{}
	var current entry
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		var err error
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "["):
			current, err = parseName(line)
		case current.name == "":
			err = fmt.Errorf("%q stands before any name", line)
		default:
			var day []hour
			day, err = parseDay(line)
			current.hours = append(current.hours, day...)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out[current.name] = current
	}
	return out, nil
}

func parseName(line string) (entry, error) {
	name, demand, closed := strings.Cut(line[1:], "] demand ")
	hash, err := parseSum(demand)
	if err != nil || !closed || name == "" {
		return entry{}, fmt.Errorf("%q, want [NAME] demand HASH", line)
	}
	return entry{name: name, demand: hash}, nil
}

func parseDay(line string) ([]hour, error) {
	fields := strings.Fields(line)
	at, err := time.Parse(hourFormat, fields[0])
	if err != nil {
		return nil, err
	}
	var out []hour
	for i, text := range fields[1:] {
		hash, err := parseSum(text)
		if err != nil {
			return nil, err
		}
		out = append(out, hour{at.Add(time.Duration(i) * time.Hour), hash})
	}
	return out, nil
}

func parseSum(text string) (uint32, error) {
	hash, err := strconv.ParseUint(text, 16, 32)
	if err != nil || len(text) != 8 {
		return 0, fmt.Errorf("hash %q, want 8 hexadecimal digits", text)
	}
	return uint32(hash), nil
}

// difference between a record and a play; empty where there is none. Of a play that is not whole the hours that it has are
// compared.
func (e entry) difference(played entry, whole bool) string {
	switch {
	case e.name == "":
		return "no record"
	case e.demand != played.demand:
		return "the demand itself is another"
	case len(played.hours) > len(e.hours) || whole && len(played.hours) < len(e.hours):
		return fmt.Sprintf("%d hours, %d are recorded", len(played.hours), len(e.hours))
	}
	first, count := -1, 0
	for i, h := range played.hours {
		if h.sum == e.hours[i].sum && h.at.Equal(e.hours[i].at) {
			continue
		}
		if first < 0 {
			first = i
		}
		count++
	}
	if first < 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d hours differ, the first is %s",
		count, len(played.hours), played.hours[first].at.Format("2006-01-02 15:04 UTC"))
}
