package cmdline

import (
	"encoding/json"
	"io"
)

// WriteJSON writes what --json prints: indented, with <, > and & as they are.
func WriteJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
