package folder

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Interval is how often Run looks for changes.
const Interval = 5 * time.Second

// maxFiles bounds the folder: a wrong path (/, a home) must not be read whole.
const maxFiles = 2_000

// Folder is the set of Forecasts of a folder. Targets and Problems may be called at any time; Reload must not be called
// twice at once.
type Folder struct {
	dir      string
	resolver *manifest.Resolver
	log      *slog.Logger

	files map[string]*file
	state atomic.Pointer[state]
}

// state is what the newest reading gave.
type state struct {
	targets  []refresh.Target
	problems []manifest.Problem
}

// file is what is known of one file.
type file struct {
	content []byte
	// documents are those that name an object.
	documents []manifest.Document
	// problems are those that no object carries.
	problems []manifest.Problem
}

// Open reads a folder for the first time. The folder must be there; faults in files are no error (see Problems).
func Open(dir string, resolver *manifest.Resolver, log *slog.Logger) (*Folder, error) {
	f := &Folder{dir: dir, resolver: resolver, log: log, files: map[string]*file{}}
	f.state.Store(&state{})
	if err := f.Reload(); err != nil {
		return nil, err
	}
	return f, nil
}

// Targets are the Forecasts of the newest reading, in the order of their namespaces and names.
// Files hold no lead times that were measured, so the time makes no difference.
func (f *Folder) Targets(time.Time) []refresh.Target { return f.state.Load().targets }

// Problems are those of the newest reading, with file and line, in the order of the files.
func (f *Folder) Problems() []manifest.Problem { return f.state.Load().problems }

// Run reloads at every interval until the context ends.
func (f *Folder) Run(ctx context.Context, clock refresh.Clock) error {
	var before string
	for {
		if err := clock.WaitUntil(ctx, clock.Now().Add(Interval)); err != nil {
			return nil //nolint:nilerr // The context ended: that is how Run ends.
		}
		err := f.Reload()
		if text := fmt.Sprint(err); text != before {
			before = text
			if err != nil {
				f.log.WarnContext(ctx, "the folder of Forecasts cannot be read, all stays as it was", "error", err)
			}
		}
	}
}

// Reload reads what changed since the last time. The error says that the folder itself cannot be read; everything then
// stays as it was.
func (f *Folder) Reload() error {
	names, err := list(f.dir)
	if err != nil {
		return err
	}
	changed := false
	for name := range f.files {
		if !slices.Contains(names, name) {
			delete(f.files, name)
			changed = true
		}
	}
	for _, name := range names {
		before := f.files[name]
		after := f.read(name, before)
		changed = changed || after != before
		f.files[name] = after
	}
	if changed {
		f.publish(names)
	}
	return nil
}

// list is the names of the files to read, sorted.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the folder of Forecasts: %w", err)
	}
	var names []string
	for _, e := range entries {
		switch strings.ToLower(filepath.Ext(e.Name())) {
		case ".yaml", ".yml", ".json":
		default:
			continue
		}
		if !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("the folder %s holds %d files of objects, more than %d: put several objects in a file",
			dir, len(names), maxFiles)
	}
	return names, nil
}

// read is a file as it is now; the same pointer where nothing changed.
func (f *Folder) read(name string, before *file) *file {
	content, err := load(filepath.Join(f.dir, name))
	if err != nil {
		problem := manifest.Problem{File: name, Text: "cannot be read, its objects stay as they were: " + err.Error()}
		if before != nil && len(before.problems) == 1 && before.problems[0] == problem {
			return before
		}
		after := &file{problems: []manifest.Problem{problem}}
		if before != nil {
			after.documents = before.documents
		}
		return after
	}
	if before != nil && before.content != nil && bytes.Equal(before.content, content) {
		return before
	}
	after := &file{content: content}
	unreadable := false
	for _, d := range manifest.Parse(name, content) {
		if d.Key.Name == "" {
			after.problems = append(after.problems, d.Problems...)
			unreadable = unreadable || d.Unreadable()
		} else {
			after.documents = append(after.documents, d)
		}
	}
	if before != nil && unreadable {
		after.keep(before)
	}
	return after
}

// keep takes over the objects that a file held before and does not name now, while something in it cannot be read.
func (f *file) keep(before *file) {
	for _, old := range before.documents {
		named := func(d manifest.Document) bool { return d.Key == old.Key }
		if !slices.ContainsFunc(f.documents, named) {
			f.documents = append(f.documents, old)
		}
	}
}

// load reads a file, at most one byte more than a file may have; config.Parse refuses that.
func load(path string) (content []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		// Opening a pipe would wait for its writer.
		return nil, fmt.Errorf("%s is not a regular file", filepath.Base(path))
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer opened.Close() //nolint:errcheck // Nothing was written.
	content, err = io.ReadAll(io.LimitReader(opened, manifest.MaxFile+1))
	if err != nil {
		return nil, err
	}
	return append([]byte{}, content...), nil
}
