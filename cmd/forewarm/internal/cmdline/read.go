package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// The most that is read of a file that has no limit of its own, in bytes.
const (
	// MaxSettings is that of kubeconfigs and scrape files; the largest that people have are of a few MiB.
	MaxSettings = 16 << 20
	// MaxSecret is that of tokens, keys and certificates, and what Kubernetes allows a Secret.
	MaxSecret = 1 << 20
)

// ErrTooLarge is of a file that is larger than its limit.
var ErrTooLarge = errors.New("larger than")

// Read reads a file of up to so many bytes. It leaves a pipe to which nobody writes when the context ends, with the exit code
// of an interruption.
func ReadFile(ctx context.Context, path string, most int64) ([]byte, error) {
	return untilDone(ctx, path, func() ([]byte, error) {
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
	return untilDone(ctx, name, func() ([]byte, error) { return bounded(in, name, most) })
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
	return fmt.Errorf("%s is %w %d MiB, the limit: name another file", name, ErrTooLarge, most>>20)
}

// untilDone leaves the work behind when the context ends: a call that waits for a pipe cannot be ended.
func untilDone(ctx context.Context, name string, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	done := make(chan result, 1)
	go func() {
		content, err := read()
		done <- result{content, err}
	}()
	select {
	case <-ctx.Done():
		err := fmt.Errorf("interrupted while reading %s: %w", name, context.Cause(ctx))
		return nil, WithExitCode(Interrupted, err)
	case r := <-done:
		return r.content, r.err
	}
}

// ErrNoFile is of what is there and is no file: a folder, a device or a pipe.
var ErrNoFile = errors.New("is no regular file")

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

// Flag is a file by the flag that names it.
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
