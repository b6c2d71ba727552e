package cli_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
)

// The command lines that the documentation shows: the commands and flags in them exist.
func TestCommandLinesOfTheDocumentationParse(t *testing.T) {
	const root = "../../../.."
	pages, err := fs.Glob(os.DirFS(root), "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, page := range append(pages, "README.md", "deploy/README.md") {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandLines(string(text)) {
			shown++
			args := words(line)
			var out, words strings.Builder
			// With --help as the last word the flags are parsed, and nothing is run.
			if code := (cli.Program{}).Run(context.Background(), append(args[1:], "--help"), &out, &words); code != 0 {
				t.Errorf("%s: %s: exit code %d: %s", page, line, code, words.String())
			}
		}
	}
	if shown < 20 {
		t.Errorf("%d command lines found, want all that the pages show", shown)
	}
}

func TestCommandLinesAreFound(t *testing.T) {
	const page = "text with `forewarm inspect` in it\n\n" +
		"    bin/forewarm serve --standalone \\\n      --config-dir forecasts   # a comment\n" +
		"    kubectl get hpa -o yaml | forewarm explain --file - | jq '.a'\n    forewarmed is forearmed\n"
	want := []string{
		"forewarm inspect", "bin/forewarm serve --standalone --config-dir forecasts", "forewarm explain --file -",
	}
	got := commandLines(page)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := words(`forewarm backtest --query 'sum(a b)' -q`); len(got) != 5 || got[3] != "sum(a b)" {
		t.Errorf("the words are %q", got)
	}
}

// row is what follows the policy forewarm in a table of results.
var row = regexp.MustCompile(`^\d`)

// commandLines are the lines of code of a page that run forewarm, and its code within lines, each without what follows it.
func commandLines(page string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) {
		if code, indented := strings.CutPrefix(line, "    "); indented {
			out = append(out, commandsOf(code)...)
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if i%2 == 1 {
				out = append(out, commandsOf(part)...)
			}
		}
	}
	return out
}

// commandsOf are the commands of a line of shell that run forewarm.
func commandsOf(code string) []string {
	code, _, _ = strings.Cut(code, " #")
	var out []string
	for _, command := range strings.FieldsFunc(code, func(r rune) bool { return r == '|' || r == '<' || r == '>' }) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(command), "$ "))
		if len(fields) < 2 || strings.TrimPrefix(fields[0], "bin/") != "forewarm" || row.MatchString(fields[1]) {
			continue
		}
		out = append(out, strings.Join(fields, " "))
	}
	return out
}

// words are those of a command line, with '…' and "…" as a shell reads them.
func words(line string) []string {
	var out []string
	var quote rune
	open := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			open = false
			continue
		default:
			if !open {
				out, open = append(out, ""), true
			}
			out[len(out)-1] += string(r)
		}
	}
	return out
}
