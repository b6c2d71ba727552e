package strict

import (
	"slices"
	"strings"
)

// LineOf is the line of a field or, where it is not written, of the nearest field around it; 0 where none is known.
func (r *Reading) LineOf(path string) int {
	for path != "" {
		if line, ok := r.Lines[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// Known says that what is wrong at a path follows from a problem that was found already.
func (r *Reading) Known(path string) bool {
	return slices.ContainsFunc(r.Bad, func(bad string) bool { return under(path, bad) || under(bad, path) })
}

// under says whether a path is that of a field or of something in it.
func under(path, of string) bool {
	rest, found := strings.CutPrefix(path, of)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
