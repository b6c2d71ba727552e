package cli_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/repotest"
)

const root = "../../../.."

// Commands of the pages run where they need neither a cluster nor a server, and print what the page shows. Of the others
// the command and the flags are checked.
func TestCommandsOfTheDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests of the packages that compute run under the race detector; the pages are compared without it")
	}
	opened(t, "testdata", "deploy/samples")
	pages, err := repotest.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("quickstart against the demo", quickstartDemo)
	for _, page := range pages {
		for _, command := range repotest.Commands(contents(t, filepath.Join(root, page)), "forewarm") {
			t.Run(fmt.Sprintf("%s:%d", page, command.Line), func(t *testing.T) {
				line := strings.Join(command.Args, " ")
				need := needs(command.Args[1:])
				if need != "" {
					t.Logf("%s: needs %s: the flags alone are checked", line, need)
					execute(t, ".", append(command.Args[1:], "--help"))
					return
				}
				folder := folderOf(t, command.Args)
				args := withFiles(t, command.Args[1:])
				if args[0] == "demo" {
					runDemo(t, folder, args, func(string) {})
					return
				}
				output := execute(t, folder, args)
				if missing := firstMissing(output, command.Output); missing != "" && runtime.GOARCH == "amd64" {
					t.Errorf("%s does not print the line %q of the page. It prints:\n%s", line, missing, output)
				}
			})
		}
	}
}

// opened opens the files below folders of the repository. Commands open them by links, and the go command reuses the result of
// a test while the files are the same that it opened by their own names.
func opened(t *testing.T, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// needs returns what a command needs that the test has not. It is empty for a command that can run.
func needs(args []string) string {
	flag := func(names ...string) bool {
		return slices.ContainsFunc(args, func(arg string) bool {
			name, _, _ := strings.Cut(arg, "=")
			return slices.Contains(names, name)
		})
	}
	switch {
	case flag("--prometheus", "--prometheus-url"):
		return "a Prometheus"
	case flag("--warm-pool"):
		return "half a minute"
	case flag("--trace"), flag("--file"), args[0] == "presets", args[0] == "demo" && len(args) > 1:
		return ""
	case flag("--server"):
		return "the demo"
	case args[0] == "demo", args[0] == "serve":
		return "a free port"
	default:
		return "a cluster, or the rest of the command"
	}
}

// execute runs the program, which must succeed, and returns what it prints.
func execute(t *testing.T, folder string, args []string) string {
	t.Helper()
	got, err := shell{folder: folder}.run(t.Context(), args)
	if err != nil || got.code != 0 {
		t.Fatalf("forewarm %s: exit code %d, %v\n%s", strings.Join(args, " "), got.code, err, got.stderr)
	}
	return got.stdout
}

// folderOf makes the folder that a command runs in: with the repository's samples and traces, and with the files that the
// page describes.
func folderOf(t *testing.T, args []string) string {
	t.Helper()
	folder := t.TempDir()
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"testdata", "deploy"} {
		if err := os.Symlink(filepath.Join(absolute, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	hpa := yamlOf(t, "docs/hpa.md", "HorizontalPodAutoscaler")
	if args[1] == "simulate" {
		hpa = stockHPA
	}
	if err := os.WriteFile(filepath.Join(folder, "hpa.yaml"), []byte(hpa), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// stockHPA is the HPA that docs/simulate.md describes.
const stockHPA = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llm, namespace: inference}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llm}
  minReplicas: 1
  maxReplicas: 100
  metrics:
    - type: External
      external: {metric: {name: llm}, target: {type: AverageValue, averageValue: "3000"}}
`

// withFiles replaces the names that stand for files of the reader.
func withFiles(t *testing.T, args []string) []string {
	t.Helper()
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg {
		case "FILE.csv.gz":
			args[i] = twoDays(t)
		case "NAME":
			args[i] = "requests"
		case "llm.csv.gz":
			data := os.Getenv("FOREWARM_DATA")
			if data == "" {
				t.Skip("FOREWARM_DATA is unset: it names the folder with the trace of the language model")
			}
			args[i] = filepath.Join(data, "traces", "servegen_m-small_requests_per_minute_resampled.csv.gz")
		}
	}
	return args
}

// twoDays writes the first two days of the project's trace to a file, and returns its path.
func twoDays(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "testdata", "traces", "requests_14d.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for lines := bufio.NewScanner(all); lines.Scan() && bytes.Count(text.Bytes(), []byte("\n")) <= 2*24*60; {
		text.WriteString(lines.Text() + "\n")
	}
	file := filepath.Join(t.TempDir(), "load.csv")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// yamlOf returns the YAML of a page that has an object of a kind.
func yamlOf(t *testing.T, page, kind string) string {
	t.Helper()
	blocks, _ := repotest.Split(contents(t, filepath.Join(root, page)))
	for _, b := range blocks {
		if b.Language == "yaml" && strings.Contains(b.Text, "\nkind: "+kind+"\n") {
			return b.Text
		}
	}
	t.Fatalf("%s has no %s", page, kind)
	return ""
}

// firstMissing returns the first line of the shown text that is not in the printed one, in their order. Where lines break,
// and how many spaces there are, does not count.
func firstMissing(printed, shown string) string {
	rest := strings.Join(strings.Fields(printed), " ")
	for line := range strings.Lines(shown) {
		words := strings.Join(strings.Fields(line), " ")
		_, after, found := strings.Cut(rest, words)
		if !found {
			return line
		}
		rest = after
	}
	return ""
}

// quickstartDemo runs the commands that the quickstart shows alongside "make demo" against it.
func quickstartDemo(t *testing.T) {
	folder, page := t.TempDir(), contents(t, filepath.Join(root, "docs", "quickstart.md"))
	const local = "http://127.0.0.1:8080"
	runDemo(t, folder, []string{"demo"}, func(address string) {
		tried := 0
		for _, c := range repotest.Commands(page, "forewarm") {
			if slices.Contains(c.Args, local) {
				tried++
				execute(t, folder, replaced(c.Args[1:], local, address))
			}
		}
		for _, c := range repotest.Commands(page, "curl") {
			tried++
			url := replaced(c.Args, local, address)[len(c.Args)-1]
			if answer := fetch(t, url); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
				t.Errorf("%s: %s", url, answer)
			}
		}
		if tried < 2 {
			t.Errorf("%d commands found, want those of the quickstart", tried)
		}
	})
}

// runDemo runs the demo in a process of its own and on a free port, calls back with its address when it serves, and interrupts it.
func runDemo(t *testing.T, folder string, args []string, serves func(address string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	bin := t.TempDir()
	if err := executable(bin); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(ctx, filepath.Join(bin, "forewarm"), append(args, "--port", "0")...)
	screen, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close() //nolint:errcheck // It is read by its name.
	command.Dir, command.Stdout, command.Stderr = folder, screen, screen
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	serves(demoAddress(ctx, t, screen.Name()))
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the demo ends with: %v\n%s", err, contents(t, screen.Name()))
	}
}

func replaced(words []string, from, to string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = strings.ReplaceAll(word, from, to)
	}
	return out
}

func contents(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var serving = regexp.MustCompile(`(?m)^Serving +(http://\S+), `)

// demoAddress waits until the demo serves, and returns its address.
func demoAddress(ctx context.Context, t *testing.T, screen string) string {
	t.Helper()
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		text := contents(t, screen)
		if found := serving.FindStringSubmatch(text); found != nil && strings.Contains(text, "Ctrl-C") {
			return found[1]
		}
	}
	t.Fatalf("the demo does not serve: %s", contents(t, screen))
	return ""
}
