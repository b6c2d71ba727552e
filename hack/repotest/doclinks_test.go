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
				case target != nil && symbol != "" && !declares(target, symbol):
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
	d, err := doc.NewFromFiles(files, parsed, path, doc.AllDecls)
	if err != nil {
		t.Fatal(err)
	}
	return d
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

// declares says whether a package has an exported symbol, or a type a method or field: Name, or Type.Name.
func declares(d *doc.Package, symbol string) bool {
	name, member, _ := strings.Cut(symbol, ".")
	for _, t := range d.Types {
		if t.Name != name {
			for _, f := range t.Funcs {
				if f.Name == name {
					return true
				}
			}
			continue
		}
		if member == "" {
			return true
		}
		for _, m := range t.Methods {
			if m.Name == member {
				return true
			}
		}
		return false
	}
	for _, f := range d.Funcs {
		if f.Name == name {
			return true
		}
	}
	for _, v := range append(d.Consts, d.Vars...) {
		if slices.Contains(v.Names, name) {
			return true
		}
	}
	return false
}
