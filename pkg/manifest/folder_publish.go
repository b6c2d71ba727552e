package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// publish resolves the targets of all files, in the order of names, and logs new problems.
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
		target, problems := f.resolve(key, documents)
		next.targets = append(next.targets, target)
		next.problems = append(next.problems, problems...)
	}
	slices.SortFunc(next.targets, func(a, b refresh.Job) int {
		return cmp.Or(strings.Compare(a.Key.Namespace, b.Key.Namespace), strings.Compare(a.Key.Name, b.Key.Name))
	})
	slices.SortStableFunc(next.problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	before := f.state.Swap(next)
	f.logChanges(before, next)
}

// resolve returns the target of the documents of one name. Several documents are a problem of each.
func (f *Folder) resolve(key snapshot.Key, documents []*Document) (refresh.Job, []Problem) {
	if len(documents) > 1 {
		return duplicate(key, documents)
	}
	d := documents[0]
	if d.Object == nil {
		problems := slices.Clone(d.Problems)
		if d.Partial != nil { // All problems are told at once.
			_, more := f.resolver.Resolve(d.Partial)
			problems = append(problems, d.Locate(more)...)
		}
		return refresh.Job{Key: key, Invalid: joinLocated(problems)}, problems
	}
	object := d.Object.DeepCopy()
	object.Generation = generation(object)
	target, problems := f.resolver.Resolve(object)
	located := d.Locate(problems)
	if len(located) > 0 {
		target.Invalid = joinLocated(located)
	}
	return target, located
}

// duplicate returns the problems of a name that several documents have.
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

// generation replaces the generation of the Kubernetes API: it changes with the spec, and is the same after a
// restart.
func generation(object *v1alpha1.Forecast) int64 {
	data, err := json.Marshal(object.Spec)
	if err != nil {
		// A spec that was decoded from JSON can be encoded.
		panic(fmt.Sprintf("write the spec of %s as JSON: %v", object.Name, err))
	}
	hash := fnv.New64a()
	hash.Write(data)
	return int64(hash.Sum64() >> 1)
}

// logChanges logs each problem once, when it appears.
func (f *Folder) logChanges(before, after *folderState) {
	for _, p := range after.problems {
		if !slices.Contains(before.problems, p) {
			f.log.Warn("a file of Forecasts has a problem", "file", p.File, "line", p.Line, "problem", p.Text)
		}
	}
	f.log.Info("read the folder of Forecasts",
		"folder", f.dir, "forecasts", len(after.targets), "problems", len(after.problems))
}
