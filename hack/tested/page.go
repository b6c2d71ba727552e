package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

const (
	intro = `<!-- Written by hack/generate.sh. Do not edit. -->

# Versions that Forewarm is tested with

The tests build these programs from source. The last column has the last run of each target of make that passed with this version.

| program | module | version | tested by |
|---|---|---|---|
`
	missing = `
## Newer versions that could not be tested

The tests download modules from the Go module proxy. It did not have these versions on the day of the attempt.

| module | version | day | what is tested instead |
|---|---|---|---|
`
)

func page(folder string) (string, error) {
	runs, err := runsIn(folder)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(intro)
	components, err := componentsIn(folder)
	if err != nil {
		return "", err
	}
	for _, component := range components {
		parts, err := partsOf(folder, component)
		if err != nil {
			return "", err
		}
		for _, p := range parts {
			programs := "CustomResourceDefinitions only"
			if p.programs != nil {
				programs = strings.Join(p.programs, ", ")
			}
			fmt.Fprintf(&out, "| %s | `%s` | %s | %s |\n", programs, p.module, p.version, p.testedBy(runs))
		}
	}
	out.WriteString(missing)
	for line, err := range linesOf(filepath.Join(folder, "unavailable.txt"), 4) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", line[0], line[1], line[2], line[3])
	}
	return out.String(), nil
}

// testedBy lists the targets that passed with this version, newest first.
func (p part) testedBy(runs []run) string {
	var passed []string
	slices.SortStableFunc(runs, func(a, b run) int { return strings.Compare(b.day, a.day) })
	for _, r := range runs {
		if r.component == p.component && r.module == p.module && r.version == p.version {
			passed = append(passed, fmt.Sprintf("`make %s` on %s", r.target, r.day))
		}
	}
	if len(passed) == 0 {
		return "no run is recorded with this version"
	}
	return strings.Join(passed, ", ")
}
