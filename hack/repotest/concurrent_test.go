package repotest_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write concurrent.txt")

// concurrency are packages that start goroutines for their importers, or that only concurrent code imports.
var concurrency = []string{
	"sync", "net/http", "testing/synctest", "golang.org/x/sync", "google.golang.org/grpc", "k8s.io/client-go/informers",
	"k8s.io/client-go/tools/cache", "k8s.io/client-go/tools/leaderelection", "k8s.io/client-go/util/workqueue",
	"sigs.k8s.io/controller-runtime",
}

// The race detector runs the product's packages whose code, tests included, is concurrent: it starts a goroutine, has parallel
// tests, or imports one of the packages above. Where none of that stands, two goroutines never meet.
func TestRaceDetectorRunsWhatIsConcurrent(t *testing.T) {
	const file = "concurrent.txt"
	var found strings.Builder
	for _, p := range list(t, module+"cmd/...", module+"pkg/...", module+"forecast/...") {
		folder := "./" + strings.TrimPrefix(p, module)
		if concurrent(t, filepath.Join("..", "..", folder)) {
			found.WriteString(folder + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(found.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if found.String() != string(listed) {
		t.Errorf("%s is out of date. Run: go test ./hack/repotest -update. Want\n%s", file, found.String())
	}
}

// concurrent reports whether the code in a folder is concurrent and has tests.
func concurrent(t *testing.T, folder string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found, tested := false, false
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		tested = tested || strings.HasSuffix(name, "_test.go")
		found = found || slices.ContainsFunc(file.Imports, importsConcurrency) || startsGoroutine(file)
	}
	return found && tested
}

func importsConcurrency(i *ast.ImportSpec) bool {
	path, err := strconv.Unquote(i.Path.Value)
	return err == nil &&
		slices.ContainsFunc(concurrency, func(of string) bool { return path == of || strings.HasPrefix(path, of+"/") })
}

// startsGoroutine reports whether a file has a go statement, or a test that runs in parallel with others.
func startsGoroutine(file *ast.File) bool {
	for n := range ast.Preorder(file) {
		switch n := n.(type) {
		case *ast.GoStmt:
			return true
		case *ast.SelectorExpr:
			if n.Sel.Name == "Parallel" {
				return true
			}
		}
	}
	return false
}
