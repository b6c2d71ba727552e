package cmdline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Stdout is the name of an output that goes to the standard output.
const Stdout = "-"

const fileMode = 0o644 // What a command writes is made to be shown.

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
		return nil // Whoever reads a pipe would see it opened, and closed.
	}
	_, err = os.Lstat(path) // A link is there, also where it leads nowhere yet.
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

// Write writes a file anew, or to the standard output where it is named Stdout.
func WriteFile(path string, stdout io.Writer, content []byte) error {
	if path == Stdout {
		_, err := stdout.Write(content)
		return err
	}
	return os.WriteFile(path, content, fileMode)
}
