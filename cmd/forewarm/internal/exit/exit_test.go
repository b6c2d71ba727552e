package exit_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
)

func TestCode(t *testing.T) {
	plain := errors.New("broken")
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"no error", nil, 0},
		{"no error with a code", exit.WithCode(3, nil), 0},
		{"an ordinary error", plain, 1},
		{"a coded error", exit.WithCode(3, plain), 3},
		{"a coded error within another", fmt.Errorf("while trying: %w", exit.WithCode(2, plain)), 2},
	} {
		if got := exit.Code(c.err); got != c.want {
			t.Errorf("%s: code %d, want %d", c.name, got, c.want)
		}
	}
	if err := exit.WithCode(3, plain); !errors.Is(err, plain) || err.Error() != "broken" {
		t.Errorf("%v: the cause is gone", err)
	}
}

func TestUsage(t *testing.T) {
	plain := errors.New("broken")
	if exit.IsUsage(nil) || exit.IsUsage(plain) || exit.Usage(nil) != nil {
		t.Error("what is not marked is of usage")
	}
	err := exit.WithCode(2, fmt.Errorf("while reading: %w", exit.Usage(plain)))
	if !exit.IsUsage(err) || exit.Code(err) != 2 || !errors.Is(err, plain) {
		t.Errorf("%v: the mark, the code or the cause is gone", err)
	}
}
