package repotest_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// oddWords are words and phrases that stop a reader, with what to write instead. misspell of golangci-lint checks single words in
// Go, and corrects them.
func oddWords() map[string]string {
	return map[string]string{
		`anew\b`:                          "again, or from scratch",
		`beside\b`:                        "next to, with, or in addition to",
		`(?:dear|dearer|dearest)\b`:       "expensive",
		`for want of\b`:                   "without",
		`foreign\b`:                       "other, or unknown",
		`hence\b`:                         "so",
		`lest\b`:                          "so that … not",
		`(?:mend|mends|mended|mending)\b`: "fix",
		`nobody\b`:                        "no one, or who or what does not",
		`of (?:which|those)[.,;:)]`:       "the name of the thing",
		`thus far\b`:                      "so far",
		`(?:whoever|whosoever)\b`:         "anyone who",
	}
}

// TestWords: no page, message, comment or name has a word that stops a reader.
func TestWords(t *testing.T) {
	var patterns []string
	for word := range oddWords() {
		patterns = append(patterns, word)
	}
	odd := regexp.MustCompile(`(?i)\b(?:` + strings.Join(patterns, "|") + `)`)
	bound := regexp.MustCompile(`\b(?:most|least)[A-Z]\w*`)
	for _, path := range texts(t) {
		for i, line := range strings.Split(read(t, path), "\n") {
			found := odd.FindString(strings.ReplaceAll(line, "http.NoBody", ""))
			if found != "" {
				t.Errorf("%s:%d: %q: write %s: %s", path, i+1, found, instead(found), strings.TrimSpace(line))
			}
			if found = bound.FindString(line); found != "" && filepath.Ext(path) == ".go" {
				t.Errorf("%s:%d: %s: write max… or min…", path, i+1, found)
			}
		}
	}
}

// instead is what to write in place of a word.
func instead(found string) string {
	for pattern, text := range oddWords() {
		if regexp.MustCompile(`(?i)^(?:` + pattern + `)$`).MatchString(found) {
			return text
		}
	}
	return ""
}

// texts are the files with text that people wrote, without the two that list the words.
func texts(t *testing.T) (paths []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Skipf("words are not checked, because git does not list the files: %v", err)
	}
	kinds := []string{
		"",
		".go",
		".jsonnet",
		".libsonnet",
		".md",
		".mod",
		".sh",
		".tpl",
		".txt",
		".txtar",
		".yaml",
		".yml",
		".html",
		".js",
		".css",
	}
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		if path != ".golangci.yml" && path != "hack/repotest/words_test.go" &&
			slices.Contains(kinds, filepath.Ext(path)) {
			paths = append(paths, path)
		}
	}
	return paths
}
