package repotest_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/repotest"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/signal"
)

// userPages are the pages that are written by hand and describe Forewarm.
func userPages(t *testing.T) []string {
	t.Helper()
	pages, err := repotest.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

var metric = regexp.MustCompile(`\bforewarm_[a-z_]+`)

// The reference is generated from the code; "make verify" compares them.
func TestMetricsThatThePagesNameExist(t *testing.T) {
	listed := metric.FindAllString(read(t, "docs/reference/metrics.md"), -1)
	found := 0
	for _, page := range userPages(t) {
		for _, name := range metric.FindAllString(read(t, page), -1) {
			found++
			if !slices.Contains(listed, name) {
				t.Errorf("%s: docs/reference/metrics.md has no metric %s", page, name)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d metrics found, want those that the pages name", found)
	}
}

func TestEveryCandidateIsDocumented(t *testing.T) {
	page := read(t, "docs/concepts.md")
	for _, name := range windowpeak.CandidateNames() {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/concepts.md does not name the candidate %s", name)
		}
	}
}

func TestEverySourceOfPresetsIsDocumented(t *testing.T) {
	page := read(t, "docs/signals.md") + read(t, "docs/node-agent.md")
	for _, source := range signal.Sources() {
		if !strings.Contains(page, "`"+source.Name+"/") {
			t.Errorf("docs/signals.md does not name a preset of %s", source.Title)
		}
	}
}

// word is a condition, a reason, a state, an event or a value of a field, as Kubernetes writes them.
var word = regexp.MustCompile(`^[A-Z][a-z]+(?:[A-Z]+[a-z]*)*$`)

// otherNames are such words of other projects that the pages name.
func otherNames() []string {
	return []string{
		"FailedGetExternalMetric", // The HPA controller's.
		"Value", "AverageValue",   // The types of an HPA's target.
		"Never", "NotIn", "In", // Values of fields of Kubernetes.
		"AzureGovernment", "AzureChina", // Names of Azure's clouds.
		"LowerPriority",   // A value of a field of Kueue.
		"GenericWorkload", // A feature gate of Kubernetes.
	}
}

// Conditions, reasons, events and states that the pages name are literals of the code.
func TestConditionsAndReasonsThatThePagesNameExist(t *testing.T) {
	literals := map[string]bool{}
	for _, word := range otherNames() {
		literals[word] = true
	}
	for _, tree := range []string{"pkg", "cmd"} {
		collectLiterals(t, filepath.Join(root, tree), literals)
	}
	found := 0
	for _, page := range userPages(t) {
		if page == "CONTRIBUTING.md" {
			continue
		}
		_, prose := repotest.Split(read(t, page))
		for _, code := range repotest.Code(prose) {
			if !word.MatchString(code) {
				continue
			}
			found++
			if !literals[code] {
				t.Errorf("%s: no code has %q", page, code)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d words found, want the conditions, reasons and states of the pages", found)
	}
}

// testFunction is the first line of a test.
var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// collectLiterals adds the string literals of the Go files below a folder, and of tests only their names.
func collectLiterals(t *testing.T, folder string, literals map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, found := range testFunction.FindAllStringSubmatch(string(source), -1) {
				literals[found[1]] = true
			}
			return nil
		}
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(path, -1, len(source)), source, nil, 0)
		for {
			_, kind, text := s.Scan()
			if kind == token.EOF {
				return nil
			}
			if kind == token.STRING {
				value, err := strconv.Unquote(text)
				if err != nil {
					return err
				}
				literals[value] = true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
