// Command tested prints docs/reference/versions.md: the versions of other projects that Forewarm is tested with, which are those of the
// modules in hack/components.
//
//	tested record TARGET COMPONENT …
//
// writes to hack/components/tested.txt that a target of make has passed today with the present versions of these components. The targets do
// so with RECORD=1. Both run in the root of the repository.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// folder of the components, with the files of what was tested and of what could not be had.
const folder = "hack/components"

// header is the first line of tested.txt.
const header = "# target, component, module, version and day of the last run that passed. Written by the targets of make with RECORD=1."

// requirement is one of a go.mod.
type requirement struct {
	Path, Version string
	Indirect      bool
}

// part is a module of a component, and the programs that are built from it. Without programs, only its files are used.
type part struct {
	component, module, version string
	programs                   []string
}

// run is a target of make that passed with a part on a day.
type run struct{ target, component, module, version, day string }

func main() {
	if err := execute(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tested:", err)
		os.Exit(1)
	}
}

func execute(args []string) error {
	if len(args) > 2 && args[0] == "record" {
		return record(folder, args[1], args[2:], time.Now())
	}
	if len(args) > 0 {
		return errors.New("usage: tested [record TARGET COMPONENT …]")
	}
	text, err := page(folder)
	fmt.Print(text)
	return err
}

// record replaces the runs of a target by one with the present versions of components.
func record(folder, target string, components []string, now time.Time) error {
	runs, err := runsIn(folder)
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(r run) bool { return r.target == target })
	for _, component := range components {
		parts, err := partsOf(folder, component)
		if err != nil {
			return err
		}
		for _, p := range parts {
			runs = append(runs, run{target, component, p.module, p.version, now.UTC().Format(time.DateOnly)})
		}
	}
	lines := []string{header}
	for _, r := range runs {
		lines = append(lines, strings.Join([]string{r.target, r.component, r.module, r.version, r.day}, " "))
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(folder, "tested.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

func runsIn(folder string) ([]run, error) {
	var out []run
	for line, err := range linesOf(filepath.Join(folder, "tested.txt"), 5) {
		if err != nil {
			return nil, err
		}
		out = append(out, run{line[0], line[1], line[2], line[3], line[4]})
	}
	return out, nil
}

// linesOf yields the fields of each line of a file, the last of which has the rest of the line.
func linesOf(path string, fields int) func(yield func([]string, error) bool) {
	return func(yield func([]string, error) bool) {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(nil, err)
			return
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			found := strings.SplitN(line, " ", fields)
			if len(found) < fields {
				yield(nil, fmt.Errorf("%s: the line %q has %d fields, want %d", path, line, len(found), fields))
				return
			}
			if !yield(found, nil) {
				return
			}
		}
	}
}

// componentsIn returns the folders with a go.mod.
func componentsIn(folder string) ([]string, error) {
	var out []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		if component, ok := strings.CutSuffix(path, "/go.mod"); ok {
			out = append(out, component)
		}
		return err
	})
	return out, err
}

// partsOf returns the modules of a component's programs, or all direct requirements of a component without programs.
func partsOf(folder, component string) ([]part, error) {
	path := filepath.Join(folder, component, "go.mod")
	// The go command reads a go.mod even if it needs a newer Go.
	text, err := exec.CommandContext(context.Background(), "go", "mod", "edit", "-json", path).CombinedOutput()
	var file struct{ Require []requirement }
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %s", path, err, text)
	}
	if err = json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	built := map[string][]string{}
	for line, err := range linesOf(filepath.Join(folder, component, "binaries"), 2) {
		if err != nil {
			return nil, err
		}
		module := ""
		for _, r := range file.Require {
			if strings.HasPrefix(line[1]+"/", r.Path+"/") && len(r.Path) > len(module) {
				module = r.Path
			}
		}
		if module == "" {
			return nil, fmt.Errorf("%s has no module for %s", path, line[1])
		}
		built[module] = append(built[module], line[0])
	}
	var out []part
	for _, r := range file.Require {
		if programs, ok := built[r.Path]; ok || len(built) == 0 && !r.Indirect {
			out = append(out, part{component, r.Path, r.Version, programs})
		}
	}
	return out, nil
}
