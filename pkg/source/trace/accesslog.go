package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
)

// logLine is a line of an access log in the Common Log Format or the combined one, as Apache, nginx, Envoy and Traefik write it.
var logLine = regexp.MustCompile(`^(\S+) \S+ .*?\[(\d{2}/[A-Za-z]{3}/\d{4}:[^\]]+)\] "(?:[^"\\]|\\.)*" (\d{3}) (\d+|-)`)

// isAccessLog reports whether a text begins with a line of an access log.
func isAccessLog(begins []byte) bool {
	line, _, _ := bytes.Cut(begins, []byte{'\n'})
	return logLine.Match(line)
}

// openAccessLog reads an access log: a row for each request. Lines that are none are counted.
func openAccessLog(buffered *bufio.Reader, from *unpacked) *table {
	lines := bufio.NewScanner(buffered)
	lines.Buffer(nil, maxLine)
	names := []string{"time", "host", "status", "bytes"}
	t := &table{names: names, separator: ',', row: "line", events: true, from: from}
	line := 0
	t.read = func() (int, []string, error) {
		for lines.Scan() {
			line++
			if found := logLine.FindSubmatch(lines.Bytes()); found != nil {
				return line, []string{string(found[2]), string(found[1]), string(found[3]), string(found[4])}, nil
			}
			t.skipped++
		}
		return line, nil, endOf(lines)
	}
	return t
}

// skippedNote says how many lines were left out; empty for none.
func (t *table) skippedNote() []string {
	if t.skipped == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d lines are not access log lines and are ignored", t.skipped)}
}
