package repotest_test

import (
	"go/ast"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// qualified is a symbol of a package in the text of a comment: decide.MaxAutoscalers.
var qualified = regexp.MustCompile(`(?:^|[\s("])([a-z]\w*)\.([A-Z]\w+)`)

// Every symbol of one of our packages that a comment names is there. A name that is also that of a package from outside in
// the same file is left alone.
func TestNamesInComments(t *testing.T) {
	t.Parallel()
	known := map[string]map[string]bool{} // the symbols by the name of the package; several packages may share it
	paths := list(t, module+"...")
	for _, p := range paths {
		d := document(t, p)
		if known[d.Name] == nil {
			known[d.Name] = map[string]bool{}
		}
		for symbol := range symbols(d) {
			known[d.Name][symbol] = true
		}
	}
	delete(known, "main")
	found := 0
	for _, p := range paths {
		files, parsed := parse(t, p)
		for _, file := range parsed {
			if ast.IsGenerated(file) {
				continue
			}
			outside := importedFromElsewhere(file)
			for _, group := range file.Comments {
				for _, m := range qualified.FindAllStringSubmatch(group.Text(), -1) {
					symbols := known[m[1]]
					if symbols == nil || outside[m[1]] {
						continue
					}
					found++
					if !symbols[m[2]] {
						t.Errorf(
							"%s: a comment names %s.%s, which is not there",
							files.Position(group.Pos()),
							m[1],
							m[2],
						)
					}
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("%d names were found, want those of the comments", found)
	}
}

// importedFromElsewhere are the names of the packages that a file imports from elsewhere.
func importedFromElsewhere(file *ast.File) map[string]bool {
	out := map[string]bool{}
	for _, imported := range file.Imports {
		from, err := strconv.Unquote(imported.Path.Value)
		if err != nil || strings.HasPrefix(from, strings.TrimSuffix(module, "/")) {
			continue
		}
		out[path.Base(from)] = true
		if imported.Name != nil {
			out[imported.Name.Name] = true
		}
	}
	return out
}
