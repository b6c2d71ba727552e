package cmdline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/kube/client"
)

// A table has heads of a line or several, and nothing without lines; what others say is cut.
func TestOutput(t *testing.T) {
	var out strings.Builder
	err := errors.Join(cmdline.Table(&out, "\nNAME\tSTATE", [][]string{{"llama", "Ready"}, {"a\nb", ""}}),
		cmdline.Table(&out, "NOTHING", nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("\nNAME       STATE\nllama      Ready\na\\u000ab\n", out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	long := strings.Repeat("x ", client.MaxMessage)
	refused, plain := client.APIMessage(apierrors.NewBadRequest(long)), client.APIMessage(errors.New(long))
	if want := long[:client.MaxMessage] + "…"; refused != want || plain != want {
		t.Errorf("%q and %q, want %q", refused, plain, want)
	}
	note := cmdline.Note(long + "\n")
	if lines := strings.Split(note, "\n"); len(lines) != 12 || !strings.HasPrefix(note, "- x") ||
		!strings.HasPrefix(lines[1], "  x") {
		t.Errorf("a note of %d lines: %q", len(lines), note)
	}
}
