package repotest_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/forewarm/forewarm/hack/repotest"
)

const root = "../.."

var (
	link    = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.+?) *#*$`)
	code    = regexp.MustCompile("`[^`]*`")
)

func TestLinksLeadSomewhere(t *testing.T) {
	pages := markdown(t)
	if len(pages) < 10 {
		t.Fatalf("%d pages found, want the README, docs/ and more: %v", len(pages), pages)
	}
	for _, page := range pages {
		for _, target := range links(read(t, page)) {
			if why := broken(t, page, target); why != "" {
				t.Errorf("%s: the link %s leads nowhere: %s", page, target, why)
			}
		}
	}
}

func TestEveryPageOfTheDocsIsInTheirIndex(t *testing.T) {
	index := links(read(t, "docs/README.md"))
	for _, page := range markdown(t) {
		name, within := strings.CutPrefix(page, "docs/")
		if within && name != "README.md" && !slices.Contains(index, name) {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	for text, want := range map[string]string{
		"Lead time and lead window":  "lead-time-and-lead-window",
		"KEDA's external scaler":     "kedas-external-scaler",
		"1. See it, `now`":           "1-see-it-now",
		"capacityBuffer":             "capacitybuffer",
		"[A link](to.md) — and more": "a-link--and-more",
	} {
		if got := anchor(text); got != want {
			t.Errorf("the anchor of %q is %q, want %q", text, got, want)
		}
	}
}

// broken returns why a link of a page leads nowhere. It is empty for a link that leads to a file and a heading.
func broken(t *testing.T, page, target string) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		return err.Error()
	}
	if to.IsAbs() {
		return ""
	}
	file := page
	if to.Path != "" {
		file = filepath.ToSlash(filepath.Join(filepath.Dir(page), to.Path))
	}
	_, err = os.Stat(filepath.Join(root, file))
	switch {
	case err != nil:
		return "there is no " + file
	case to.Fragment == "":
		return ""
	case !slices.Contains(anchors(read(t, file)), to.Fragment):
		return file + " has no heading #" + to.Fragment
	}
	return ""
}

// markdown returns the paths of all pages of the project, from its root.
func markdown(t *testing.T) []string {
	t.Helper()
	var pages []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != ".":
			return filepath.SkipDir
		case filepath.Ext(name) == ".md":
			pages = append(pages, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// links returns the targets of a page's links. Links in code do not count.
func links(text string) []string {
	var out []string
	_, prose := repotest.Split(text)
	for _, line := range prose {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
			out = append(out, found[1])
		}
	}
	return out
}

// anchors returns those of a page's headings. The second of two equal headings ends with -1, and so on.
func anchors(text string) []string {
	var out []string
	seen := map[string]int{}
	_, prose := repotest.Split(text)
	for _, line := range prose {
		found := heading.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		name := anchor(found[1])
		seen[name]++
		if n := seen[name] - 1; n > 0 {
			name += "-" + string(rune('0'+n))
		}
		out = append(out, name)
	}
	return out
}

// anchor returns the anchor of a heading, as GitHub makes it: its text in lower case, spaces as hyphens, without punctuation.
func anchor(text string) string {
	text = link.ReplaceAllStringFunc(text,
		func(s string) string { return s[strings.Index(s, "[")+1 : strings.Index(s, "]")] })
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
