package signal

import (
	"embed"
	"path"
	"strings"
	"sync"
)

// nameLists has a list for each source with the names, types and labels of its metrics. Each part of a list begins with the source file
// from which it was read. Tests compare the presets with the lists.
//
//go:embed names/*.txt
var nameLists embed.FS

// listed returns the labels that servers set on the series of their metrics, by the name of the series, and the names that are histograms.
//
//nolint:gochecknoglobals // It is read once from the embedded files.
var listed = sync.OnceValues(func() (all map[string][]string, histograms map[string]bool) {
	all, histograms = map[string][]string{}, map[string]bool{}
	files, err := nameLists.ReadDir("names")
	if err != nil {
		panic(err) // The files are embedded, so they can be read.
	}
	for _, file := range files {
		text, err := nameLists.ReadFile(path.Join("names", file.Name()))
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 2 || f[0] == "#" || f[0] == "from" {
				continue
			}
			name, kind, labels := f[0], f[1], f[2:]
			suffixes := []string{""}
			if kind == "histogram" {
				histograms[name] = true
				suffixes = append(suffixes, "_count", "_sum", "_bucket")
			}
			for _, suffix := range suffixes { // Several servers may have a metric of the same engine.
				all[name+suffix] = append(all[name+suffix], labels...)
				if suffix == "_bucket" {
					all[name+suffix] = append(all[name+suffix], "le")
				}
			}
		}
	}
	return all, histograms
})

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

// Readings lists the files that the names of the source's metrics were read from. Files with former names come last.
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
