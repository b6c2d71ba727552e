package repotest_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/repotest"
)

const page = "Text with `forewarm inspect` in it.\n\n" +
	"    bin/forewarm serve --standalone \\\n      --config-dir forecasts   # a comment\n" +
	"    kubectl get hpa -o yaml | forewarm explain --file - | jq '.a'\n    forewarmed is forearmed\n\n" +
	"It prints:\n\n    first\n\n      second\n" +
	"    forewarm  4000  7,089\n\n```yaml\nserve: Shadow\n```\n\n- An item:\n\n      forewarm presets > file\n"

func TestCommandsAreFound(t *testing.T) {
	want := []string{
		"bin/forewarm serve --standalone --config-dir forecasts", "forewarm explain --file -", "forewarm presets",
		"forewarm inspect",
	}
	var got []string
	outputs := map[string]string{}
	for _, c := range repotest.Commands(page, "forewarm") {
		line := strings.Join(c.Args, " ")
		got = append(got, line)
		outputs[line] = c.Output
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found %q, want %q", got, want)
	}
	if got, want := outputs[want[1]], "first\n\n  second\nforewarm  4000  7,089\n"; got != want {
		t.Errorf("the output is %q, want %q", got, want)
	}
	if got := repotest.Words(`forewarm simulate --query 'sum(a b)' -q`); len(got) != 5 || got[3] != "sum(a b)" {
		t.Errorf("the words are %q", got)
	}
}

func TestBlocksAreFound(t *testing.T) {
	blocks, prose := repotest.Split(page)
	if len(blocks) != 4 || blocks[1].Intro != "It prints:" || blocks[2].Language != "yaml" || blocks[2].Line != 16 ||
		blocks[2].Text != "serve: Shadow\n" {
		t.Errorf("the blocks are %+v", blocks)
	}
	if text := strings.Join(prose, "\n"); strings.Contains(text, "serve") || !strings.Contains(text, "An item") {
		t.Errorf("the other lines are %q", text)
	}
}
