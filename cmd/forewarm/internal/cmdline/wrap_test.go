package cmdline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

func TestWrap(t *testing.T) {
	got := cmdline.Wrap("a bb ccc 3\u00a0% dddddddd e", "", 7)
	if diff := cmp.Diff("a bb\nccc 3\u00a0%\ndddddddd\ne\n", got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
