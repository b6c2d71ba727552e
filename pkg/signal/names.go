package signal

import (
	"embed"
	"strings"
)

// nameLists has a list for each source: the names, types and labels of its metrics, below the files in which they were
// read. Presets are held against it.
//
//go:embed names/*.txt
var nameLists embed.FS

// Reading is a file in which the names of a source's metrics were read.
type Reading struct {
	// Date is the day on which it was read, as 2026-11-27.
	Date string
	// Repository is owner/name on GitHub.
	Repository string
	// Commit is 40 hexadecimal digits, or the release of a Go module.
	Commit string
	File   string
}

// Readings lists the files in which the names of the source's metrics were read, those of its former names last.
func (s Source) Readings() []Reading {
	list, err := nameLists.ReadFile("names/" + s.Name + ".txt")
	if err != nil {
		return nil
	}
	var readings []Reading
	for line := range strings.Lines(string(list)) {
		const fields = 5
		if f := strings.Fields(line); len(f) == fields && f[0] == "from" {
			readings = append(readings, Reading{Date: f[1], Repository: f[2], Commit: f[3], File: f[4]})
		}
	}
	return readings
}
