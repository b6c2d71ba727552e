// Package priorfiles reads and writes the priors that are built into the program: a folder of JSON files.
package priorfiles

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
)

// Folder is the folder of a package's files.
const Folder = "priors"

// Read returns every file's content, in the order of their names.
func Read[T any](files fs.ReadFileFS) ([]T, error) {
	entries, err := fs.ReadDir(files, Folder)
	if err != nil {
		return nil, fmt.Errorf("built-in priors: %w", err)
	}
	out := make([]T, len(entries))
	for i, entry := range entries {
		text, err := files.ReadFile(path.Join(Folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("built-in priors: %w", err)
		}
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, fmt.Errorf("built-in prior %s: %w", entry.Name(), err)
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

// RoundDigits rounds to so many significant digits.
func RoundDigits(v float64, digits int) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return out
}
