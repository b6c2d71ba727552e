package manifest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/run"
)

// FolderInterval is how often Run checks for changes.
const FolderInterval = 5 * time.Second

// maxFiles limits the number of files. If the path is wrong (/, a home directory), Forewarm must not read everything.
const maxFiles = 2_000

// Folder is the set of Forecasts in the YAML and JSON files of a folder, for running without a cluster. It is safe for concurrent use.
//
// It reads *.yaml, *.yml and *.json in the order of their names. Sub-folders and names that begin with a dot are
// skipped. Changes are found by content, through symbolic links, as a mounted ConfigMap needs.
//
// Files with errors:
//
//   - An object that has a name and problems becomes an invalid target at once, as in a cluster.
//   - While a file, or a document in it, cannot be read (a syntax error or no name, for example of a file that is half
//     written), the objects that it had before and does not name now stay as they were. Removing the file removes them.
//     A document of another kind, such as an HPA alongside its Forecast, is a problem, but the others are read.
//   - An object that is defined twice is not served; the problem names both places.
type Folder struct {
	dir      string
	resolver *Resolver
	// revision is the revision of the resolver that made the jobs.
	revision uint64
	log      *slog.Logger

	// mu guards files, names and paused. names are the names of the files in order. paused replaces the annotations of Forecasts that were
	// paused or resumed.
	mu     sync.Mutex
	files  map[string]*folderFile
	names  []string
	paused map[snapshot.Key]bool
	state  atomic.Pointer[folderState]
	// onPause is called after a Forecast was paused or resumed.
	onPause func()
}

// folderState is the result of the newest Reload.
type folderState struct {
	targets  []refresh.Job
	objects  []v1alpha1.Forecast
	problems []Problem
}

// folderFile is the state of one file.
type folderFile struct {
	content []byte
	// documents are the documents that contain the name of an object.
	documents []Document
	// problems are the problems that do not belong to an object.
	problems []Problem
}

// OpenFolder reads a folder for the first time. The folder must exist. Problems in files are not an error (see Problems).
func OpenFolder(dir string, resolver *Resolver, log *slog.Logger) (*Folder, error) {
	f := &Folder{
		dir: dir, resolver: resolver, log: log, files: map[string]*folderFile{}, paused: map[snapshot.Key]bool{},
		onPause: func() {},
	}
	f.state.Store(&folderState{})
	if err := f.Reload(); err != nil {
		return nil, err
	}
	return f, nil
}

// List returns the Forecasts, by namespace and name. Files have no measured lead times, so the time does not matter.
func (f *Folder) List(time.Time) []refresh.Job { return f.state.Load().targets }

// Objects returns the Forecasts that can be read, by namespace and name.
func (f *Folder) Objects() []v1alpha1.Forecast { return f.state.Load().objects }

// SetPaused pauses a Forecast, or resumes it, until the process ends: files are not written. It reports whether there is such a Forecast.
func (f *Folder) SetPaused(key snapshot.Key, paused bool) bool {
	isIt := func(object v1alpha1.Forecast) bool {
		return object.Namespace == key.Namespace && object.Name == key.Name
	}
	if !slices.ContainsFunc(f.Objects(), isIt) {
		return false
	}
	f.mu.Lock()
	f.paused[key] = paused
	f.publish(f.names)
	f.mu.Unlock()
	f.onPause()
	return true
}

// OnPause sets what is called after a Forecast was paused or resumed. It must be set before the folder is shared.
func (f *Folder) OnPause(call func()) { f.onPause = call }

// Problems returns the problems of all files, with file and line, in the order of the files.
func (f *Folder) Problems() []Problem { return f.state.Load().problems }

// Run reloads at every interval until the context ends.
func (f *Folder) Run(ctx context.Context, clock run.Clock) error {
	var before string
	for {
		if err := clock.WaitUntil(ctx, clock.Now().Add(FolderInterval)); err != nil {
			return nil //nolint:nilerr // The context ended: that is how Run ends.
		}
		err := f.Reload()
		if text := fmt.Sprint(err); text != before {
			before = text
			if err != nil {
				f.log.WarnContext(ctx,
					"the folder of Forecasts cannot be read: the Forecasts stay as they were, retrying", "error", err)
			}
		}
	}
}

// Reload reads what changed since the last call. If the folder itself cannot be read, everything stays as it was.
func (f *Folder) Reload() error {
	names, err := listFiles(f.dir)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names = names
	changed := f.resolver.Revision() != f.revision
	f.revision = f.resolver.Revision()
	for name := range f.files {
		if !slices.Contains(names, name) {
			delete(f.files, name)
			changed = true
		}
	}
	for _, name := range names {
		before := f.files[name]
		f.files[name] = f.read(name, before)
		changed = changed || f.files[name] != before
	}
	if changed {
		f.publish(names)
	}
	return nil
}

// listFiles returns the names of the files to read, sorted.
func listFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the folder of Forecasts: %w", err)
	}
	var names []string
	for _, e := range entries {
		isRead := slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name())))
		if isRead && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("the folder %s has %d files of objects, more than %d: put several objects in a file",
			dir, len(names), maxFiles)
	}
	return names, nil
}

// read returns the present state of a file. If nothing changed, it returns the same pointer.
func (f *Folder) read(name string, before *folderFile) *folderFile {
	content, err := readFile(filepath.Join(f.dir, name))
	if err != nil {
		problem := Problem{File: name, Text: "cannot be read, its objects stay as they were: " + err.Error()}
		if before != nil && len(before.problems) == 1 && before.problems[0] == problem {
			return before
		}
		after := &folderFile{problems: []Problem{problem}}
		if before != nil {
			after.documents = before.documents
		}
		return after
	}
	if before != nil && before.content != nil && bytes.Equal(before.content, content) {
		return before
	}
	after := &folderFile{content: content}
	unreadable := false
	for _, d := range Parse(name, content) {
		if d.Key.Name == "" {
			after.problems = append(after.problems, d.Problems...)
			unreadable = unreadable || d.Unreadable()
		} else {
			after.documents = append(after.documents, d)
		}
	}
	if before == nil || !unreadable {
		return after
	}
	for _, old := range before.documents { // An object that is missing now may be in the unreadable part.
		if !slices.ContainsFunc(after.documents, func(d Document) bool { return d.Key == old.Key }) {
			after.documents = append(after.documents, old)
		}
	}
	return after
}

// readFile reads at most one byte more than the limit; Parse rejects such a file.
func readFile(path string) (content []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // Opening a pipe would block until there is a writer.
		return nil, fmt.Errorf("%s is not a regular file", filepath.Base(path))
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer opened.Close() //nolint:errcheck // Nothing was written.
	return io.ReadAll(io.LimitReader(opened, MaxFile+1))
}

// publish resolves the jobs of all files in the order of the names, and logs new problems.
func (f *Folder) publish(names []string) {
	next := &folderState{}
	places := map[snapshot.Key][]*Document{}
	for _, name := range names {
		next.problems = append(next.problems, f.files[name].problems...)
		for i := range f.files[name].documents {
			d := &f.files[name].documents[i]
			places[d.Key] = append(places[d.Key], d)
		}
	}
	for key, documents := range places {
		target, object, problems := f.resolve(key, documents)
		next.targets = append(next.targets, target)
		if object != nil {
			next.objects = append(next.objects, *object)
		}
		next.problems = append(next.problems, problems...)
	}
	slices.SortFunc(next.targets, func(a, b refresh.Job) int {
		return cmp.Or(strings.Compare(a.Key.Namespace, b.Key.Namespace), strings.Compare(a.Key.Name, b.Key.Name))
	})
	slices.SortFunc(next.objects, func(a, b v1alpha1.Forecast) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(next.problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	before := f.state.Swap(next)
	for _, p := range next.problems { // Each problem is logged once, when it first appears.
		if !slices.Contains(before.problems, p) {
			f.log.Warn("a file of Forecasts has a problem", "file", p.File, "line", p.Line, "problem", p.Text)
		}
	}
	f.log.Info("read the folder of Forecasts",
		"folder", f.dir, "forecasts", len(next.targets), "problems", len(next.problems))
}

// resolve returns the job and the object for the documents with one name. The object is nil if it cannot be read. If there are several
// documents, each of them has a problem.
func (f *Folder) resolve(key snapshot.Key, documents []*Document) (refresh.Job, *v1alpha1.Forecast, []Problem) {
	if len(documents) > 1 {
		target, problems := duplicate(key, documents)
		return target, nil, problems
	}
	d := documents[0]
	if d.Object == nil {
		problems := slices.Clone(d.Problems)
		if d.Partial != nil { // All problems are reported together.
			_, more := f.resolver.Resolve(d.Partial)
			problems = append(problems, d.Locate(more)...)
		}
		return refresh.Job{Key: key, Invalid: joinLocated(problems)}, nil, problems
	}
	object := d.Object.DeepCopy()
	object.Generation = generation(object)
	switch paused, set := f.paused[key]; {
	case paused:
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, v1alpha1.PauseAnnotation, "true")
	case set:
		delete(object.Annotations, v1alpha1.PauseAnnotation)
	}
	target, problems := f.resolver.Resolve(object)
	located := d.Locate(problems)
	if len(located) > 0 {
		target.Invalid = joinLocated(located)
	}
	return target, object, located
}

// duplicate returns the problems for a name that several documents have.
func duplicate(key snapshot.Key, documents []*Document) (refresh.Job, []Problem) {
	at := make([]string, len(documents))
	for i, d := range documents {
		at[i] = fmt.Sprintf("%s:%d", d.File, d.Line)
	}
	text := fmt.Sprintf("Forecast %s is defined in %s: keep one", key, strings.Join(at, " and "))
	var problems []Problem
	for _, d := range documents {
		problems = append(problems, Problem{File: d.File, Line: d.Line, Text: text})
		problems = append(problems, d.Problems...)
	}
	return refresh.Job{Key: key, Invalid: text}, problems
}

func joinLocated(problems []Problem) string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.String()
	}
	return strings.Join(texts, "; ")
}

// generation replaces the generation of the Kubernetes API. It changes with the spec, and is the same after a restart.
func generation(object *v1alpha1.Forecast) int64 {
	data, err := json.Marshal(object.Spec)
	if err != nil { // A spec that was decoded from JSON can also be encoded.
		panic(fmt.Sprintf("write the spec of %s as JSON: %v", object.Name, err))
	}
	hash := fnv.New64a()
	hash.Write(data)
	return int64(hash.Sum64() >> 1)
}
