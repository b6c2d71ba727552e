package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry has what was served in a play.
type entry struct {
	name string
	// demand is a hash of all of the demand, so that a change of the demand is not reported as a change of the values.
	demand string
	hours  []hour
}

// record has the entries of a file by name.
type record map[string]entry

func recordPath(dir string, k kind) string { return filepath.Join(dir, string(k)+".txt") }

// hourFormat is the format of the first hour in a line. The other hours of the day follow.
const hourFormat = "2006-01-02T15"

// preface is the beginning of a file.
const preface = `# What forewarm serves, as hashes: see hack/served. To write it again: make test-served UPDATE=1
# A line has the first hour of a day and a hash of what was served in each hour from there on.
`

// text returns the text of the record, in the order of the plays.
func (r record) text(plays []play) string {
	var out strings.Builder
	out.WriteString(preface)
	for _, p := range plays {
		e, there := r[p.String()]
		if !there {
			continue
		}
		fmt.Fprintf(&out, "\n[%s] demand %s", e.name, e.demand)
		for i, h := range e.hours {
			if i == 0 || h.at.Hour() == 0 {
				out.WriteString("\n" + h.at.Format(hourFormat))
			}
			out.WriteString(" " + h.sum)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// readRecord reads the file of a kind. If the file does not exist, the record is empty.
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
		return nil, fmt.Errorf("%s: %w; to write it again: make test-served UPDATE=1", path, err)
	}
	return r, nil
}

// parseRecord parses the output of text. An invalid hash differs from all hashes.
func parseRecord(text string) (record, error) {
	out := record{}
	var current entry
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[':
			name, demand, found := strings.Cut(line[1:], "] demand ")
			if !found || name == "" {
				return nil, fmt.Errorf("line %d: %q, want [NAME] demand HASH", i+1, line)
			}
			current = entry{name: name, demand: demand}
		default:
			day, err := parseDay(line)
			if err != nil || current.name == "" {
				return nil, fmt.Errorf("line %d: %q, want %s and hashes, after a [NAME]", i+1, line, hourFormat)
			}
			current.hours = append(current.hours, day...)
		}
		out[current.name] = current
	}
	return out, nil
}

// parseDay parses the line of a day.
func parseDay(line string) ([]hour, error) {
	fields := strings.Fields(line)
	at, err := time.Parse(hourFormat, fields[0])
	var out []hour
	for i, sum := range fields[1:] {
		out = append(out, hour{at.Add(time.Duration(i) * time.Hour), sum})
	}
	return out, err
}

// difference describes the difference between a record and a play; empty if there is none. If the play is not complete, only its hours are
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
	var differ []hour
	for i, h := range played.hours {
		if h.sum != e.hours[i].sum || !h.at.Equal(e.hours[i].at) {
			differ = append(differ, h)
		}
	}
	if len(differ) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d hours differ, the first is %s",
		len(differ), len(played.hours), differ[0].at.Format("2006-01-02 15:04 UTC"))
}
