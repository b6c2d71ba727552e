package cmdline_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

func written(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	got, err := cmdline.ReadFile(t.Context(), written(t, "five!"), 5)
	if string(got) != "five!" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, c := range map[string]struct {
		path string
		most int64
		want error
	}{
		"a byte too many":    {written(t, "five!"), 4, cmdline.ErrTooLarge},
		"a device":           {"/dev/zero", cmdline.MaxSecret, cmdline.ErrTooLarge},
		"a file that is not": {filepath.Join(t.TempDir(), "none"), 1, os.ErrNotExist},
		"a folder":           {t.TempDir(), 1, syscall.EISDIR},
	} {
		if _, err := cmdline.ReadFile(t.Context(), c.path, c.most); !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v, want %v and the path", name, err, c.want)
		}
	}
}

// A pipe whose writer never comes, and a reader that never ends, are left when the context ends.
func TestReadIsInterrupted(t *testing.T) {
	path := pipe(t)
	reader, writer := io.Pipe()
	t.Cleanup(func() {
		writer.Close() //nolint:errcheck // Of such a pipe it never fails.
		other, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		other.Close() //nolint:errcheck // It let the reader go.
	})
	for name, read := range map[string]func(context.Context) ([]byte, error){
		"a pipe":   func(ctx context.Context) ([]byte, error) { return cmdline.ReadFile(ctx, path, 1) },
		"a reader": func(ctx context.Context) ([]byte, error) { return cmdline.ReadFrom(ctx, reader, "stdin", 1) },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("^C"))
		_, err := read(ctx)
		if cmdline.ExitCode(err) != cmdline.Interrupted ||
			!strings.Contains(err.Error(), "interrupted while reading ") {
			t.Errorf("%s: %v, want an interruption", name, err)
		}
	}
}

func TestCheckFile(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"as many as allowed": {written(t, "five!"), nil},
		"a byte too many":    {written(t, "six-by"), cmdline.ErrTooLarge},
		"a device":           {"/dev/zero", cmdline.ErrNoFile},
		"a pipe":             {pipe(t), cmdline.ErrNoFile},
		"a file that is not": {filepath.Join(t.TempDir(), "none"), nil},
	} {
		if err := cmdline.CheckFile(c.path, 5); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	fresh := filepath.Join(dir, "fresh")
	if err := cmdline.CheckWritable(fresh); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(fresh); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file that was tried is there: %v", err)
	}
	old := written(t, "as it was")
	if err := cmdline.CheckWritable(old); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(old); string(content) != "as it was" || err != nil {
		t.Errorf("the file that was tried holds %q, %v", content, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "later"), link); err != nil {
		t.Fatal(err)
	}
	if err := cmdline.CheckWritable(link); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(link); err != nil {
		t.Errorf("the link that was tried is gone: %v", err)
	}
	for path, want := range map[string]string{
		dir:                                dir + " is a folder",
		filepath.Join(dir, "none", "page"): "folder " + filepath.Join(dir, "none") + " does not exist",
		filepath.Join(old, "page"):         "not a directory",
		"/dev/full":                        "",
		pipe(t):                            "",
		cmdline.Stdout:                     "",
	} {
		err := cmdline.CheckWritable(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestWrite(t *testing.T) {
	path, out := written(t, "what was longer before"), &strings.Builder{}
	if err := errors.Join(cmdline.WriteFile(path, out, []byte("new")),
		cmdline.WriteFile("-", out, []byte("page"))); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if string(content) != "new" || out.String() != "page" || err != nil {
		t.Errorf("%q in the file, %q on the output, %v", content, out, err)
	}
}
