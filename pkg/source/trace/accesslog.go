package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
)

var (
	// logLine matches a line of an access log in the Common Log Format or the combined format, as Apache, nginx and Traefik write it.
	logLine = regexp.MustCompile(
		`^(\S+) +\S+ .*?\[(\d{2}/[A-Za-z]{3}/\d{4}:[^\]]+)\] "(?:[^"\\]|\\.)*" (\d{3}) (\d+|-)`,
	)
	// envoyLine matches a line of Envoy's default format: time, request, status, flags, bytes received and sent.
	envoyLine = regexp.MustCompile(`^(\S* *)\[(\d{4}-\d\d-\d\dT[^\]]+)\] "(?:[^"\\]|\\.)*" (\d{3}) .*?\s\d+ (\d+) \d+ `)
)

// findLog returns the parts of a line of an access log (host, time, status and bytes); nil for other lines.
func findLog(line []byte) [][]byte {
	if found := logLine.FindSubmatch(line); found != nil {
		return found
	}
	return envoyLine.FindSubmatch(line)
}

// isAccessLog reports whether one of the first lines of a text is from an access log. A server may write other lines when it starts.
func isAccessLog(begins []byte) bool {
	for line := range bytes.Lines(begins) {
		if findLog(line) != nil {
			return true
		}
	}
	return false
}

// openAccessLog reads an access log as one row for each request. Other lines are counted.
func openAccessLog(buffered *bufio.Reader, from *unpacked) *table {
	lines := bufio.NewScanner(buffered)
	lines.Buffer(nil, maxLine)
	names := []string{"time", "host", "status", "bytes"}
	t := &table{names: names, separator: ',', row: "line", events: true, from: from}
	line := 0
	t.read = func() (int, []string, error) {
		for lines.Scan() {
			line++
			if found := findLog(lines.Bytes()); found != nil {
				return line, []string{string(found[2]), string(found[1]), string(found[3]), string(found[4])}, nil
			}
			t.skipped++
		}
		return line, nil, endOf(lines)
	}
	return t
}

// skippedNote says how many lines were skipped; empty if none were.
func (t *table) skippedNote() []string {
	if t.skipped == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d lines are not access log lines and are ignored", t.skipped)}
}
