package windowpeak

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
)

// priorFolder is the folder of a package's built-in priors, a JSON file each.
const priorFolder = "priors"

// ReadPriors returns the content of every file of the folder priors, in the order of their names.
func ReadPriors[T any](files fs.ReadFileFS) ([]T, error) {
	entries, err := fs.ReadDir(files, priorFolder)
	if err != nil {
		return nil, fmt.Errorf("built-in priors: %w", err)
	}
	out := make([]T, len(entries))
	for i, entry := range entries {
		text, err := files.ReadFile(path.Join(priorFolder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("built-in priors: %w", err)
		}
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, fmt.Errorf("built-in prior %s: %w", entry.Name(), err)
		}
	}
	return out, nil
}
