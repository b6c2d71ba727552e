package reference

import (
	"fmt"
	"io"
	"strings"
)

// WriteHelp writes the help of a command under its name.
func WriteHelp(out io.Writer, command, help string) {
	fmt.Fprintf(out, "\n## %s\n\n```text\n%s\n```\n", command, strings.TrimSpace(help))
}
