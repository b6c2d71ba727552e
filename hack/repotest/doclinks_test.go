package repotest_test

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docLink is a link to a package, or to a symbol of it, as Go's tools read a doc comment: [hpa], [hpa.Run], [hpa.Loop.Step].
var docLink = regexp.MustCompile(`(?:^|[ ("])\[([a-z][\w/.-]*?)(?:\.([A-Z]\w*))?(?:\.([A-Z]\w*))?\](?:[ ,.;:)"]|$)`)

// Every link of a doc comment leads to a package that the commented one imports, and to a symbol that is there.
func TestLinksOfDocComments(t *testing.T) {
	t.Parallel()
	docs := map[string]*doc.Package{}
	for _, p := range list(t, module+"...") {
		docs[p] = document(t, p)
	}
	found := 0
	for p, d := range docs {
		resolve := d.Parser().LookupPackage
		for _, text := range comments(d) {
			for _, m := range docLink.FindAllStringSubmatch(text, -1) {
				name, symbol := m[1], strings.Trim(m[2]+"."+m[3], ".")
				to, ok := resolve(name)
				if strings.Contains(name, "/") {
					to, ok = name, true
				}
				found++
				switch target := docs[to]; {
				case !ok:
					t.Errorf("%s links to [%s], which it does not import: write the whole path", p, name)
				case target == nil && strings.HasPrefix(to, module):
					t.Errorf("%s links to %s, which is not there", p, to)
				case target != nil && symbol != "" && !symbols(target)[symbol]:
					t.Errorf("%s links to %s of %s, which is not there", p, symbol, to)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("%d links were found, want those of the package comments", found)
	}
}

// document is what Go's tools show of a package.
func document(t *testing.T, path string) *doc.Package {
	t.Helper()
	files, parsed := parse(t, path)
	d, err := doc.NewFromFiles(files, parsed, path, doc.AllDecls)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// parse reads the files of a package, without its tests.
func parse(t *testing.T, path string) (*token.FileSet, []*ast.File) {
	t.Helper()
	dir := filepath.Join("..", "..", strings.TrimPrefix(path, strings.TrimSuffix(module, "/")))
	names, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range append(names.GoFiles, names.CgoFiles...) {
		f, failed := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.ParseComments)
		if failed != nil {
			t.Fatal(failed)
		}
		parsed = append(parsed, f)
	}
	return files, parsed
}

// comments are the doc comments of a package, of its types and of its functions.
func comments(d *doc.Package) []string {
	out := []string{d.Doc}
	functions := d.Funcs
	for _, t := range d.Types {
		out = append(out, t.Doc)
		functions = append(append(functions, t.Funcs...), t.Methods...)
	}
	for _, f := range functions {
		out = append(out, f.Doc)
	}
	for _, v := range append(d.Consts, d.Vars...) {
		out = append(out, v.Doc)
	}
	return out
}

// symbols are the exported symbols of a package, as links name them: Name, or Type.Method.
func symbols(d *doc.Package) map[string]bool {
	out := map[string]bool{}
	functions, values := d.Funcs, slices.Concat(d.Consts, d.Vars)
	for _, t := range d.Types {
		out[t.Name] = true
		functions, values = append(functions, t.Funcs...), slices.Concat(values, t.Consts, t.Vars)
		for _, m := range t.Methods {
			out[t.Name+"."+m.Name] = true
		}
	}
	for _, f := range functions {
		out[f.Name] = true
	}
	for _, v := range values {
		for _, name := range v.Names {
			out[name] = true
		}
	}
	return out
}
