package reference_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/reference"
)

func conditionsOf(t *testing.T, source string) (page string, err error) {
	t.Helper()
	dir := t.TempDir()
	if err = os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = reference.WriteConditions(&out,
		reference.ConditionKind{Title: "Thing", Text: "A thing.", Folders: []string{dir}})
	return out.String(), err
}

const sound = `// Conditions of a Thing.
const (
	// ConditionReady is True while it works.
	ConditionReady = "Ready"
)

// Reasons of the condition Ready.
const (
	// Broken (False): it broke,
	// see docs/design.md#layers.
	//
	// Fix: change a|b.
	Broken State = "Broken"
)
`

func TestConditionsAreListedWithTheirReasons(t *testing.T) {
	page, err := conditionsOf(t, sound)
	if err != nil {
		t.Fatal(err)
	}
	const want = "\n## Thing\n\nA thing.\n\n### Ready\n\n`Ready` is True while it works.\n\n" +
		"| reason | status | meaning | what to do |\n|---|---|---|---|\n" +
		"| `Broken` | False | It broke, see [design](../design.md#layers). | Change a\\|b. |\n"
	if page != want {
		t.Errorf("%s\nwant\n%s", page, want)
	}
}

func TestConstantsWithoutAProperCommentAreErrors(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"no status":            {"Broken (False): it broke,", "Broken: it broke,", `Broken: the comment "Broken: it broke,`},
		"no comment":           {"	// Broken (False): it broke,\n	// see docs/design.md#layers.\n	//\n	// Fix: change a|b.\n", "", "Broken: no comment"},
		"a paragraph too many": {"// Fix: change", "// Change", `"Change a|b."`},
		"an unknown value":     {`"Broken"`, `string(y.Broken)`, "Broken: the value is not a text"},
		"an unknown condition": {"the condition Ready", "the condition Steady", "the condition Steady, which does not exist"},
		"no conditions":        {"Conditions of a Thing.", "These are all.", "Thing: no conditions found"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(sound, c.from, c.to, 1)
			_, err := conditionsOf(t, changed)
			if changed == sound || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
