package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

// zip is the same for Windows.
func (b build) zip(entries []entry) ([]byte, error) {
	var text bytes.Buffer
	w := zip.NewWriter(&text)
	for _, e := range entries {
		file, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: b.created})
		if err == nil {
			_, err = file.Write(e.content)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
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
			lines := strings.Split(string(files[i].content), "\n")
			for j, line := range lines {
				switch key, _, _ := strings.Cut(line, ":"); key {
				case "version":
					lines[j] = "version: " + strings.TrimPrefix(b.version, "v")
				case "appVersion":
					lines[j] = "appVersion: " + b.version
				}
			}
			files[i].content = []byte(strings.Join(lines, "\n"))
		}
		files[i].name = "forewarm/" + files[i].name
	}
	return b.tarGz(files)
}
