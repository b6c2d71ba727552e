// Command mutants tests the tests: it changes the code as mutants.tsv says, one change at a time, and prints which changes no
// test sees. The changes were drawn at random once: operators, conditions, constants. They stay the same, so that two revisions
// can be compared. If code moves, its line in mutants.tsv moves with it.
//
//	go run ./hack/mutants [-root FOLDER] [-only TEXT]
//
// A line has a file, a text that occurs there once, and what replaces it, with tabs between. The package's own tests run first,
// then those where the values come together. The tests must pass on the unchanged code, or every mutant counts as caught. Tests that
// need a cluster are skipped unless KUBEBUILDER_ASSETS is set.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed mutants.tsv
var list string

// dependents returns further packages whose tests are run with a mutant if the tests of its own package do not catch it. They are packages
// in which the values of many packages come together.
func dependents(file string) []string {
	folder, _, _ := strings.Cut(strings.TrimPrefix(file, "pkg/"), "/")
	switch folder {
	case "manifest":
		return []string{"./pkg/manifest/...", "./pkg/kube/...", "./cmd/forewarm/internal/..."}
	case "kube":
		return []string{"./pkg/kube/...", "./pkg/serve/...", "./pkg/doctor", "./cmd/forewarm/internal/serve"}
	case "source":
		return []string{"./pkg/source/...", "./cmd/forewarm/internal/..."}
	case "signal":
		return []string{"./pkg/agent/expose", "./pkg/source/...", "./cmd/forewarm/internal/..."}
	case "offline":
		return []string{"./pkg/offline/...", "./cmd/forewarm/internal/..."}
	default:
		return []string{"./pkg/core/forecaster", "./pkg/refresh", "./pkg/serve/...", "./hack/served"}
	}
}

// mutant is a change of the code.
type mutant struct{ file, old, new string }

func main() {
	root := flag.String("root", ".", "the repository's folder")
	only := flag.String("only", "", "the mutants whose line has this text")
	flag.Parse()
	if err := run(context.Background(), *root, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, only string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	caught, all := 0, 0
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 || !strings.Contains(line, only) {
			continue
		}
		m := mutant{fields[0], fields[1], fields[2]}
		begin := time.Now()
		by, err := m.caughtBy(ctx, root)
		if err != nil {
			return fmt.Errorf("%s: %w", m.file, err)
		}
		all++
		if by != "" {
			caught++
		}
		fmt.Printf("%-9s %4.0fs  %s: %s\n", map[bool]string{false: "SURVIVED", true: by}[by != ""],
			time.Since(begin).Seconds(), m.file, m.new)
	}
	fmt.Printf("%d of %d mutants are caught\n", caught, all)
	return nil
}

// caughtBy tests the changed code. It returns "own" or "others", depending on whose tests fail, or an empty text if none fail.
func (m mutant) caughtBy(ctx context.Context, root string) (string, error) {
	path := filepath.Join(root, m.file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%q occurs %d times, want once: fix mutants.tsv", m.old, n)
	}
	folder, err := os.MkdirTemp("", "forewarm-mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // A temporary folder.
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	for name, content := range map[string]string{
		changed: strings.Replace(string(text), m.old, m.new, 1), overlay: string(replaced),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	own := "./" + filepath.Dir(m.file)
	if out, err := goTool(ctx, root, "build", "-overlay", overlay, own); err != nil {
		return "", fmt.Errorf("%q does not compile: fix mutants.tsv: %s", m.new, out)
	}
	for _, where := range []struct {
		name     string
		packages []string
	}{{"own", []string{own}}, {"others", dependents(m.file)}} {
		args := []string{"test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout", "20m"}
		out, err := goTool(ctx, root, append(args, where.packages...)...)
		switch {
		case err == nil:
		case strings.Contains(out, "[build failed]") || strings.Contains(out, "no space left on device"):
			return "", fmt.Errorf("the tests cannot run: %s", out)
		default:
			return where.name, nil
		}
	}
	return "", nil
}

func goTool(ctx context.Context, root string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	out, err := command.CombinedOutput()
	return string(out), err
}
