package printable_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/printable"
)

func TestPage(t *testing.T) {
	table := [][]string{{"", "GPU", "late"}, {"größer", "1,234", "5%"}, {"a\nb\x1b", "7", ""}}
	for name, c := range map[string]struct{ got, want string }{
		"lines of words":  {printable.Wrap("", "a bb ccc 3\u00a0% dddddddd e", "", 7), "a bb\nccc 3\u00a0%\ndddddddd\ne\n"},
		"behind a head":   {printable.Wrap("- ", "a bb ccc", "  ", 6), "- a bb\n  ccc\n"},
		"nothing":         {printable.Wrap("- ", "", "  ", 6), "-\n"},
		"all to the left": {printable.Table(table, 3, 1), "               GPU   late\ngrößer         1,234 5%\na\\u000ab\\u001b 7\n"},
		"numbers aligned": {printable.Table(table, 1, 2), "                  GPU  late\ngrößer          1,234    5%\na\\u000ab\\u001b      7\n"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
