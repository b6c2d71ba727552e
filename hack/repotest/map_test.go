package repotest_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mapped are the folders that CONTRIBUTING's map names: an entry begins a line, or is indented by two under its folder, and
// may name several, apart by commas. "/…" says that
// more lies below.
func mapped(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## Layout")
	section, _, _ := strings.Cut(rest, "\n## ")
	entry := regexp.MustCompile(`(?m)^ {4}( {2})?([a-z][^ ,]*(?:, [a-z][^ ,]*)*) {2}`)
	var folders []string
	under := ""
	for _, m := range entry.FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(m[2], ", ") {
			if m[1] == "" {
				under = strings.TrimSuffix(name, "/")
				folders = append(folders, under)
			} else {
				folders = append(folders, path.Join(under, name))
			}
		}
	}
	return folders
}

// Everything on CONTRIBUTING's map is in the tree, and every package is on the map; those of pkg/core and hack one by one.
func TestTheMapIsTheTree(t *testing.T) {
	t.Parallel()
	folders := mapped(t)
	if len(folders) < 20 {
		t.Fatalf("the map has %d entries: %v", len(folders), folders)
	}
	for _, f := range folders {
		if _, err := os.Stat("../../" + strings.TrimSuffix(f, "/…")); err != nil {
			t.Errorf("CONTRIBUTING's map names what is not there: %v", err)
		}
	}
	for _, p := range list(t, module+"cmd/...", module+"pkg/...", module+"forecast/...", module+"hack/...") {
		p = strings.TrimPrefix(p, module)
		named := slices.ContainsFunc(folders, func(f string) bool {
			f = strings.TrimSuffix(f, "/…")
			return p == f || f != "pkg/core" && f != "hack" && strings.HasPrefix(p, f+"/")
		})
		if !named {
			t.Errorf("CONTRIBUTING's map does not name %s", p)
		}
	}
}
