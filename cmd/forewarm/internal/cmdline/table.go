package cmdline

import (
	"io"
	"math"
	"strings"

	"github.com/forewarm/forewarm/pkg/printable"
)

// Page is the width of what people read, in columns, where no terminal has another.
const Page = 100

// Table writes lines of cells below heads, which tabs part, in one line or several; nothing where there are no lines.
func Table(out io.Writer, heads string, lines [][]string) error {
	if len(lines) == 0 {
		return nil
	}
	var table [][]string
	for line := range strings.SplitSeq(heads, "\n") {
		table = append(table, strings.Split(line, "\t"))
	}
	_, err := io.WriteString(out, printable.Table(append(table, lines...), math.MaxInt, 3)) //nolint:mnd // As kubectl's.
	return err
}

// Note is an item of a list, in lines of a page.
func Note(text string) string {
	const most = 1000
	return printable.Wrap("- ", printable.Line(printable.Clip(text, most)), "  ", Page)
}
