package repotest_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/forewarm/forewarm/"

// layer is a set of packages and what must not stand in their dependencies, however indirect: the linter's depguard sees direct
// imports only.
type layer struct {
	packages  []string
	forbidden []string
	why       string
}

var outside = []string{"k8s.io/", "sigs.k8s.io/", "github.com/prometheus/", "net/http", "runtime/cgo"}

func layers() map[string]layer {
	return map[string]layer{
		"forecast": {
			packages:  []string{"forecast/..."},
			forbidden: append([]string{module + "pkg/", "context", "log", "net", "os/exec"}, outside...),
			why:       "the library is pure",
		},
		"core": {
			packages: []string{"pkg/core/..."},
			forbidden: append([]string{
				module + "pkg/refresh",
				module + "pkg/source",
				module + "pkg/serve",
				module + "pkg/offline",
				module + "pkg/manifest",
				module + "pkg/kube",
				module + "pkg/api",
				module + "pkg/signal",
				module + "pkg/chart",
			}, outside...),
			why: "the core is pure, and knows itself and the library alone",
		},
		"loop": {
			packages: []string{"pkg/refresh", "pkg/offline/...", "pkg/chart"},
			forbidden: append(
				[]string{module + "pkg/source", module + "pkg/serve", module + "pkg/manifest"},
				outside...),
			why: "the loop declares the interfaces it needs",
		},
		"faces": {
			packages: []string{"pkg/serve/..."},
			forbidden: []string{
				module + "pkg/source", module + "pkg/refresh", module + "pkg/manifest", module + "pkg/core/forecaster",
			},
			why: "faces read the snapshot and nothing behind it",
		},
		"sources": {
			packages:  []string{"pkg/source/..."},
			forbidden: []string{module + "pkg/serve", module + "pkg/manifest"},
			why:       "data flows one way",
		},
		"agent": {
			packages: []string{"pkg/agent/...", "cmd/forewarm-agent", "cmd/internal/..."},
			forbidden: []string{
				module + "pkg/serve", module + "pkg/source", module + "pkg/refresh", module + "pkg/manifest",
				module + "pkg/signal", module + "forecast", "k8s.io/client-go/", "k8s.io/apimachinery/", "k8s.io/api/",
			},
			why: "the node agent is a program of its own, and small",
		},
		"readings": {
			packages: []string{"pkg/agent/gpu"},
			forbidden: []string{
				"k8s.io/", "github.com/prometheus/", "google.golang.org/grpc", "net/http", "context", "log", "os/exec",
				"runtime/cgo",
			},
			why: "what the agent makes of readings is pure",
		},
		"no cgo": {
			packages: []string{"cmd/forewarm"},
			forbidden: []string{
				module + "pkg/agent", "github.com/NVIDIA/go-nvml/", "runtime/cgo",
			},
			why: "forewarm is one static binary; only the node agent needs cgo",
		},
		"NVML": {
			packages:  []string{"pkg/agent/pods", "pkg/agent/collect", "pkg/agent/expose", "cmd/internal/agent"},
			forbidden: []string{module + "pkg/agent/nvml", "github.com/NVIDIA/", "runtime/cgo"},
			why:       "only the agent's main knows whose library reads the GPUs",
		},
		"API services": {
			packages: []string{"pkg/kube/apiservices"},
			forbidden: []string{
				module + "pkg/serve",
				module + "pkg/source",
				module + "pkg/signal",
				module + "pkg/manifest",
				module + "pkg/refresh",
			},
			why: "siblings of the outer layer do not meet",
		},
		"manifests": {
			packages:  []string{"pkg/manifest/..."},
			forbidden: []string{module + "pkg/serve", module + "pkg/source", module + "pkg/signal"},
			why:       "siblings of the outer layer do not meet",
		},
		// It reads its own objects by pkg/manifest, and asks for what it needs of the Forecasts' watch.
		"warm pools": {
			packages: []string{"pkg/kube/pools"},
			forbidden: []string{
				module + "pkg/serve", module + "pkg/source", module + "pkg/signal", module + "pkg/kube/forecasts",
			},
			why: "siblings of the outer layer do not meet",
		},
	}
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
	for name, l := range layers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, dep := range dependencies(t, l.packages) {
				for _, forbidden := range l.forbidden {
					if within(dep, forbidden) {
						t.Errorf("%v depends on %s: %s", l.packages, dep, l.why)
					}
				}
			}
		})
	}
}

// TestForbiddenWordsExist keeps the fence itself honest: a package that was renamed would no longer be fenced off.
func TestForbiddenWordsExist(t *testing.T) {
	all := dependencies(t, []string{"..."})
	for name, l := range layers() {
		for _, forbidden := range l.forbidden {
			found := false
			for _, dep := range all {
				found = found || within(dep, forbidden)
			}
			// What needs cgo is not listed without it.
			if !found && forbidden != "runtime/cgo" && !strings.HasPrefix(forbidden, "github.com/NVIDIA/") {
				t.Errorf("%s: nothing in the module is called %s any more: mend the fence", name, forbidden)
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
	patterns := make([]string, len(packages))
	for i, p := range packages {
		patterns[i] = module + p
	}
	product := slices.DeleteFunc(list(t, patterns...), func(pkg string) bool { return strings.HasSuffix(pkg, "test") })
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
