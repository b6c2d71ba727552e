package repotest_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const module = "github.com/forewarm/forewarm/"

// layer is a set of packages and what must not stand in their dependencies, however indirect: the linter's depguard sees direct
// imports only.
type layer struct {
	Packages, Forbidden []string
	Why                 string
}

// layers are those of layers.yaml. A path that begins with ./ is one of this module.
func layers(t *testing.T) map[string]layer {
	t.Helper()
	text, err := os.ReadFile("layers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]layer
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(string(text), "./", module)), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMain opens the sources. The go command reuses the result of a test while the files are the same that it opened, and does not
// know what the go list that it ran has read.
func TestMain(m *testing.M) {
	for _, tree := range []string{"go.mod", "cmd", "pkg", "forecast", "hack", "deploy"} {
		err := filepath.WalkDir(filepath.Join("..", "..", tree), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && (strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".mod")) {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			panic(err)
		}
	}
	m.Run()
}

func TestImportLaw(t *testing.T) {
	t.Parallel()
	for name, l := range layers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, dep := range dependencies(t, l.Packages) {
				for _, forbidden := range l.Forbidden {
					if within(dep, forbidden) {
						t.Errorf("%v depends on %s: %s", l.Packages, dep, l.Why)
					}
				}
			}
		})
	}
}

// TestForbiddenWordsExist keeps the fence itself honest: a package that was renamed would no longer be fenced off.
func TestForbiddenWordsExist(t *testing.T) {
	all := dependencies(t, []string{module + "..."})
	for name, l := range layers(t) {
		for _, forbidden := range l.Forbidden {
			found := false
			for _, dep := range all {
				found = found || within(dep, forbidden)
			}
			// What needs cgo is not listed without it.
			if !found && forbidden != "runtime/cgo" && !strings.HasPrefix(forbidden, "github.com/NVIDIA/") {
				t.Errorf("%s: nothing in the module is called %s any more: correct the rule", name, forbidden)
			}
		}
	}
}

// within says whether a package is, or lies below, a path; a path that ends with a slash is a prefix.
func within(pkg, path string) bool {
	if strings.HasSuffix(path, "/") {
		return strings.HasPrefix(pkg, path)
	}
	return pkg == path || (strings.HasPrefix(path, module) && strings.HasPrefix(pkg, path+"/"))
}

// TestTheCommandNeedsNoCgo looks again with cgo, which the list above is made without: what would be linked if it were on.
func TestTheCommandNeedsNoCgo(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", module+"cmd/forewarm")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if within(dep, "github.com/NVIDIA/") || within(dep, module+"pkg/agent") {
			t.Errorf("cmd/forewarm depends on %s: only the node agent reads GPUs", dep)
		}
	}
}

// dependencies are those of packages; what is there for tests alone may depend on package testing, and so on anything.
func dependencies(t *testing.T, packages []string) []string {
	t.Helper()
	product := slices.DeleteFunc(list(t, packages...), func(pkg string) bool { return strings.HasSuffix(pkg, "test") })
	return list(t, append([]string{"-deps"}, product...)...)
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	args = append([]string{"list", "-f", "{{.ImportPath}}"}, args...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	// Without cgo: its own packages would hide a dependency of ours on it.
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.Fields(string(out))
}
