package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

var _ refresh.Jobs = (*manifest.Folder)(nil)

// forecast is a good object with a query.
func forecast(name, query string) string {
	return fmt.Sprintf("apiVersion: forewarm.dev/v1alpha1\nkind: Forecast\nmetadata: {name: %s}\n"+
		"spec: {targetRef: {kind: Deployment, name: d}, signal: {query: %s}}\n---\n", name, query)
}

type story struct {
	*testing.T
	dir    string
	folder *manifest.Folder
}

func openFolder(t *testing.T) *story {
	t.Helper()
	s := &story{T: t, dir: t.TempDir()}
	f, err := manifest.OpenFolder(s.dir, manifest.NewResolver(catalogue{}), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.folder = f
	return s
}

func (s *story) write(name, content string) {
	s.Helper()
	must(s, os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600))
}

// expect reloads and compares the targets, written name=query or name!problem.
func (s *story) expect(want ...string) {
	s.Helper()
	must(s, s.folder.Reload())
	var got []string
	for _, t := range s.folder.List(time.Time{}) {
		if t.Invalid != "" {
			got = append(got, t.Key.Name+"!"+t.Invalid)
		} else {
			got = append(got, t.Key.Name+"="+strings.TrimSuffix(t.Expr, "@default"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Error(diff)
	}
}

func (s *story) expectProblems(want ...string) {
	s.Helper()
	var got []string
	for _, p := range s.folder.Problems() {
		got = append(got, p.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Error(diff)
	}
}

func TestFilesComeChangeAndGo(t *testing.T) {
	s := openFolder(t)
	s.expect()
	s.write("b.yaml", forecast("b1", "x")+forecast("b2", "y"))
	s.write("a.yml", forecast("a", "z"))
	s.write("j.json", `{"apiVersion": "forewarm.dev/v1alpha1", "kind": "Forecast", "metadata": {"name": "j"},
		"spec": {"targetRef": {"kind": "Deployment", "name": "d"}, "signal": {"query": "w"}}}`)
	s.write(".hidden.yaml", forecast("hidden", "x"))
	s.write("notes.txt", "not YAML: [")
	s.expect("a=z", "b1=x", "b2=y", "j=w")
	s.write("b.yaml", forecast("b2", "Y"))
	s.expect("a=z", "b2=Y", "j=w")
	must(t, os.Remove(filepath.Join(s.dir, "a.yml")))
	s.expect("b2=Y", "j=w")
	s.expectProblems()
}

func TestAnInvalidObjectSaysSoAndStopsNobody(t *testing.T) {
	s := openFolder(t)
	s.write("a.yaml", forecast("bad", "x")+forecast("good", "x"))
	s.expect("bad=x", "good=x")
	s.write("a.yaml", strings.Replace(forecast("bad", "x"), "spec: {", "spec: {step: 0s, ", 1)+forecast("good", "x"))
	problem := `a.yaml:4: spec.step: Invalid value: "0s": write a duration from 1s to 2h`
	s.expect("bad!"+problem, "good=x")
	s.expectProblems(problem)
	s.write("a.yaml", strings.Replace(forecast("bad", "x"), "spec: {", "spec: {stepp: 0s, ", 1)+forecast("good", "x"))
	problem = "a.yaml:4: spec.stepp: unknown field, the known fields are costRatio, deferrable, events, expose, " +
		"formerNames, history, leadTime, models, objective, price, quantile, scaling, seasons, serve, signal, " +
		"staleAfter, step, targetRef, variants"
	s.expect("bad!"+problem, "good=x")
}

func TestAllProblemsAreToldAtOnce(t *testing.T) {
	s := openFolder(t)
	spec := "spec: {stepp: 1, step: 0s, quantile: 2, staleAfter: soon, targetRef: 5, "
	s.write("a.yaml", strings.Replace(forecast("bad", "x"), "spec: {targetRef: {kind: Deployment, name: d}, ", spec, 1))
	must(t, s.folder.Reload())
	s.expectProblems(
		`a.yaml:4: spec.quantile: is not text: put it in quotes, "2"`,
		`a.yaml:4: spec.staleAfter: Invalid value: "soon": is not a duration, write for example 30s, 5m, 1h30m or 14d`,
		`a.yaml:4: spec.step: Invalid value: "0s": write a duration from 1s to 2h`,
		"a.yaml:4: spec.stepp: unknown field, the known fields are costRatio, deferrable, events, expose, "+
			"formerNames, history, leadTime, models, objective, price, quantile, scaling, seasons, serve, signal, "+
			"staleAfter, step, targetRef, variants",
		"a.yaml:4: spec.targetRef: is a single value: write fields with values",
	)
}

func TestAHalfWrittenFileKeepsItsObjects(t *testing.T) {
	s := openFolder(t)
	whole := forecast("a", "x") + forecast("b", "y")
	s.write("f.yaml", whole)
	s.expect("a=x", "b=y")
	s.write("f.yaml", strings.Replace(forecast("a", "new"), "x", "z", 1)+"apiVersion: [\n")
	s.expect("a=new", "b=y")
	s.expectProblems("f.yaml:6: is not YAML: did not find expected node content")
	// Still broken, in another way: what was kept is kept on.
	s.write("f.yaml", "{")
	s.expect("a=new", "b=y")
	s.write("f.yaml", forecast("a", "x"))
	s.expect("a=x")
	s.expectProblems()
}

func TestAForeignDocumentKeepsNothing(t *testing.T) {
	s := openFolder(t)
	otherKind := "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
	s.write("f.yaml", forecast("a", "x")+forecast("b", "y")+otherKind)
	s.expect("a=x", "b=y")
	s.write("f.yaml", forecast("a", "x")+otherKind)
	s.expect("a=x")
	s.expectProblems(`f.yaml:6: apiVersion "autoscaling/v2", kind "HorizontalPodAutoscaler" is not supported here: ` +
		"write apiVersion: forewarm.dev/v1alpha1, kind: Forecast")
}

func TestAnUnreadableFileKeepsItsObjects(t *testing.T) {
	s := openFolder(t)
	s.write("f.yaml", forecast("a", "x"))
	s.expect("a=x")
	path := filepath.Join(s.dir, "f.yaml")
	must(t, os.Remove(path))
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	s.expect("a=x")
	s.expect("a=x")
	s.expectProblems("f.yaml: cannot be read, its objects stay as they were: f.yaml is not a regular file")
	must(t, os.Remove(path))
	s.expect()
}

func TestTwoFilesWithOneNameAreServedFromNeither(t *testing.T) {
	s := openFolder(t)
	s.write("a.yaml", forecast("x", "one"))
	s.write("b.yaml", forecast("other", "y")+forecast("x", "two"))
	text := "Forecast default/x is defined in a.yaml:1 and b.yaml:6: keep one"
	s.expect("other=y", "x!"+text)
	s.expectProblems("a.yaml:1: "+text, "b.yaml:6: "+text)
	s.write("b.yaml", forecast("other", "y"))
	s.expect("other=y", "x=one")
}

// A mounted ConfigMap: the names are links into ..data, itself a link that is swapped.
func TestAConfigMapsLinksAreFollowed(t *testing.T) {
	s := openFolder(t)
	mount := func(version, content string) {
		t.Helper()
		dir := filepath.Join(s.dir, "..", filepath.Base(s.dir)+version)
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "f.yaml"), []byte(content), 0o600))
		fresh := filepath.Join(s.dir, "..data_tmp")
		must(t, os.Symlink(dir, fresh))
		must(t, os.Rename(fresh, filepath.Join(s.dir, "..data")))
	}
	mount("1", forecast("a", "x"))
	must(t, os.Symlink("..data/f.yaml", filepath.Join(s.dir, "f.yaml")))
	s.expect("a=x")
	mount("2", forecast("a", "y"))
	s.expect("a=y")
}

func TestTheGenerationFollowsTheSpec(t *testing.T) {
	s := openFolder(t)
	generation := func(content string) int64 {
		s.write("f.yaml", content)
		must(t, s.folder.Reload())
		return s.folder.List(time.Time{})[0].Generation
	}
	first := generation(forecast("a", "x"))
	if again := generation("# a comment\n" + forecast("a", "x")); again != first {
		t.Errorf("a comment changed the generation from %d to %d", first, again)
	}
	if other := generation(forecast("a", "y")); other == first || other <= 0 {
		t.Errorf("another query left the generation at %d", other)
	}
}

// granting is a catalogue whose sources change.
type granting struct {
	catalogue

	revision uint64
}

func (g *granting) Source(string, string) (manifest.Source, error) {
	if g.revision == 0 {
		return manifest.Source{}, errors.New("source not granted")
	}
	return manifest.Source{SourceRef: refresh.SourceRef{Name: "a"}}, nil
}

func (g *granting) Revision() uint64 { return g.revision }

// A source that is granted, or taken away, takes effect without a change of the files.
func TestGrantsTakeEffectAtTheNextReload(t *testing.T) {
	grants, dir := &granting{}, t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f.yaml"), []byte(forecast("a", "x")), 0o600))
	f, err := manifest.OpenFolder(dir, manifest.NewResolver(grants), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for revision, want := range []string{"source not granted", ""} {
		grants.revision = uint64(revision)
		must(t, f.Reload())
		got := f.List(time.Time{})[0]
		if (want == "") != (got.Invalid == "") || !strings.Contains(got.Invalid, want) {
			t.Errorf("revision %d: %q, want %q", revision, got.Invalid, want)
		}
	}
}

func TestTheFolderItself(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	_, err := manifest.OpenFolder("/does/not/exist", manifest.NewResolver(catalogue{}), log)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder gives %v", err)
	}
	s := openFolder(t)
	s.write("f.yaml", forecast("a", "x"))
	s.expect("a=x")
	must(t, os.RemoveAll(s.dir))
	if err := s.folder.Reload(); err == nil {
		t.Error("a folder that went away gives no error")
	}
	if got := len(s.folder.List(time.Time{})); got != 1 {
		t.Errorf("%d targets after the folder went away, want 1", got)
	}
}

// clock lets Run go round a number of times, each after an action.
type clock struct {
	now     time.Time
	actions []func()
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) WaitUntil(_ context.Context, t time.Time) error {
	if len(c.actions) == 0 {
		return context.Canceled
	}
	c.actions[0]()
	c.actions = c.actions[1:]
	c.now = t
	return nil
}

func TestRun(t *testing.T) {
	s := openFolder(t)
	var seen []int
	look := func() { seen = append(seen, len(s.folder.List(time.Time{}))) }
	c := &clock{actions: []func(){
		func() { s.write("a.yaml", forecast("a", "x")) },
		func() { look(); s.write("b.yaml", forecast("b", "x")) },
		look,
	}}
	must(t, s.folder.Run(t.Context(), c))
	if diff := cmp.Diff([]int{1, 2}, seen); diff != "" {
		t.Error(diff)
	}
}

// TestFolderPauses: a pause holds until it is ended, whatever the file says and however often it changes.
func TestFolderPauses(t *testing.T) {
	s := openFolder(t)
	calls := 0
	s.folder.OnPause(func() { calls++ })
	s.write("a.yaml", forecast("llama", "up"))
	must(t, s.folder.Reload())
	key := s.folder.List(time.Time{})[0].Key
	paused := func() bool { return s.folder.List(time.Time{})[0].Pause.Capacity > 0 }
	if paused() || !s.folder.SetPaused(key, true) || !paused() {
		t.Error("the pause is not served")
	}
	s.write("a.yaml", forecast("llama", "down"))
	must(t, s.folder.Reload())
	if !paused() || s.folder.Objects()[0].Annotations[v1alpha1.PauseAnnotation] != "true" {
		t.Error("a change of the file ended the pause")
	}
	if !s.folder.SetPaused(key, false) || paused() {
		t.Error("the pause does not end")
	}
	s.write("a.yaml", strings.Replace(forecast("llama", "up"), "{name: llama}",
		`{name: llama, annotations: {forewarm.dev/pause: "true"}}`, 1))
	must(t, s.folder.Reload())
	if paused() {
		t.Error("the file pauses what was resumed")
	}
	if key.Name = "none"; s.folder.SetPaused(key, true) || calls != 2 {
		t.Errorf("an unknown Forecast is paused, or %d calls, want 2", calls)
	}
}
