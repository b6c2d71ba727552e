// Package shipped reads and writes what was fitted to recorded demand and is built into the program: a folder of JSON
// files.
package shipped

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
)

// Folder is where a package keeps its files.
const Folder = "priors"

// Read reads every file, in the order of their names.
func Read[T any](files fs.ReadFileFS) ([]T, error) {
	entries, err := fs.ReadDir(files, Folder)
	if err != nil {
		return nil, fmt.Errorf("shipped priors: %w", err)
	}
	out := make([]T, len(entries))
	for i, entry := range entries {
		text, err := files.ReadFile(path.Join(Folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("shipped priors: %w", err)
		}
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, fmt.Errorf("shipped prior %s: %w", entry.Name(), err)
		}
	}
	return out, nil
}

// Write writes a file.
func Write(out io.Writer, content any) error {
	text, err := json.Marshal(content)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}

// Rounded keeps so many digits; what is fitted is no more exact than a few.
func Rounded(v float64, digits int) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return out
}
