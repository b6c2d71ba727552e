package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tarGz is an archive of files that are as old as the commit.
func (b build) tarGz(entries []entry) ([]byte, error) {
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	err := errors.Join(b.writeTar(w, entries), w.Close())
	return text.Bytes(), err
}

// readFolder reads the files below a folder, in the order of their names. It leaves out names that a pattern matches: files, and
// folders with all that is in them.
func readFolder(folder string, ignored ...string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		matches := func(pattern string) bool {
			found, malformed := path.Match(strings.TrimSuffix(pattern, "/"), d.Name())
			return found && malformed == nil
		}
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.ContainsFunc(ignored, matches):
			return fs.SkipDir
		case d.IsDir(), slices.ContainsFunc(ignored, matches):
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, file)
		entries = append(entries, entry{name: filepath.ToSlash(name), mode: 0o644, content: content})
		return err
	})
	return entries, err
}

var chartVersions = regexp.MustCompile(`(?m)^version:.*\nappVersion:.*$`)

// chart is the package of the chart with the release's version, as "helm package" makes it, but with files as old as the commit.
func (b build) chart() ([]byte, error) {
	folder := filepath.Join(b.root, "deploy", "charts", "forewarm")
	ignored, err := os.ReadFile(filepath.Join(folder, ".helmignore"))
	if err != nil {
		return nil, fmt.Errorf("read the chart: %w", err)
	}
	files, err := readFolder(folder, strings.Fields(string(ignored))...)
	if err != nil {
		return nil, fmt.Errorf("read the chart: %w", err)
	}
	for i := range files {
		if files[i].name == "Chart.yaml" {
			own := "version: " + strings.TrimPrefix(b.version, "v") + "\nappVersion: " + b.version
			files[i].content = chartVersions.ReplaceAllLiteral(files[i].content, []byte(own))
		}
		files[i].name = "forewarm/" + files[i].name
	}
	return b.tarGz(files)
}
