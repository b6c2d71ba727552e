package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Size limits for files that have no other limit, in bytes.
const (
	// MaxSettings is that of kubeconfigs and scrape files; the largest that people have are of a few MiB.
	MaxSettings = 16 << 20
	// MaxSecret is that of tokens, keys and certificates, and what Kubernetes allows a Secret.
	MaxSecret = 1 << 20
)

// ErrTooLarge is of a file that is larger than its limit.
var ErrTooLarge = errors.New("larger than")

// ReadFile reads a file of up to so many bytes. It leaves a pipe to which no one writes when the context ends, with the exit code
// of an interruption.
func ReadFile(ctx context.Context, path string, most int64) ([]byte, error) {
	return UntilDone(ctx, path, func() ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		content, err := bounded(file, path, most)
		return content, errors.Join(err, file.Close())
	})
}

// ReadFrom is Read of what is open already, by a name for errors.
func ReadFrom(ctx context.Context, in io.Reader, name string, most int64) ([]byte, error) {
	return UntilDone(ctx, name, func() ([]byte, error) { return bounded(in, name, most) })
}

// ReadInput is Read of a file, or ReadFrom of in where it is named "-".
func ReadInput(ctx context.Context, in io.Reader, path string, most int64) ([]byte, error) {
	if path == "-" {
		return ReadFrom(ctx, in, "stdin", most)
	}
	return ReadFile(ctx, path, most)
}

func bounded(in io.Reader, name string, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, tooLarge(name, most)
	}
	return content, err
}

func tooLarge(name string, most int64) error {
	return fmt.Errorf("%s is %w the limit of %d MiB: use a smaller file", name, ErrTooLarge, most>>20)
}

// UntilDone returns what read returns. It leaves the work behind when the context ends, with the exit code of an interruption: a call
// that waits for a pipe cannot be ended.
func UntilDone[T any](ctx context.Context, name string, read func() (T, error)) (T, error) {
	type result struct {
		content T
		err     error
	}
	done := make(chan result, 1)
	go func() {
		content, err := read()
		done <- result{content, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		err := fmt.Errorf("interrupted while reading %s: %w", name, context.Cause(ctx))
		return none, WithExitCode(Interrupted, err)
	case r := <-done:
		return r.content, r.err
	}
}

// ErrNoFile is of what is there and is no file: a folder, a device or a pipe.
var ErrNoFile = errors.New("is not a regular file")

// CheckFile is for files that a library reads whole, perhaps again and again. What cannot be looked at is for the library to tell.
func CheckFile(path string, most int64) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil //nolint:nilerr // See above.
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s %w", path, ErrNoFile)
	case info.Size() > most:
		return tooLarge(path, most)
	}
	return nil
}

// FileFlag is a file by the flag that names it.
type FileFlag struct{ Name, Path string }

// CheckFlagFiles is Check of the files that flags name, as errors do.
func CheckFlagFiles(most int64, flags ...FileFlag) error {
	var problems []error
	for _, f := range flags {
		if err := CheckFile(f.Path, most); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", f.Name, err))
		}
	}
	return errors.Join(problems...)
}

// Stdout is the name of an output that goes to the standard output.
const Stdout = "-"

const fileMode = 0o644 // The output of a command is meant to be read by others.

// CheckWritable says why a file could not be written in the end. A file that is there stays as it is, one that is not does not
// come to be.
func CheckWritable(path string) error {
	info, err := os.Stat(path)
	switch {
	case path == Stdout:
		return nil
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder, write the name of a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // The reader of a pipe would notice that it is opened and closed.
	}
	_, err = os.Lstat(path) // A link counts as existing, even if its target does not exist yet.
	there := err == nil
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("folder %s does not exist", filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	err = file.Close()
	if !there {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// WriteFile replaces a file, or writes to the standard output where it is named Stdout.
func WriteFile(path string, stdout io.Writer, content []byte) error {
	if path == Stdout {
		_, err := stdout.Write(content)
		return err
	}
	return os.WriteFile(path, content, fileMode)
}
