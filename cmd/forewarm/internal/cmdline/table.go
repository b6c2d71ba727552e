package cmdline

import (
	"io"
	"strings"

	"github.com/forewarm/forewarm/pkg/printable"
)

// Page is the width of what people read, in columns, where no terminal has another.
const Page = 100

// Table writes lines of cells below heads, which a tab parts; nothing where there are no lines.
func Table(out io.Writer, heads string, lines [][]string) error {
	if len(lines) == 0 {
		return nil
	}
	table := append([][]string{strings.Split(heads, "\t")}, lines...)
	_, err := io.WriteString(out, printable.Table(table, len(table[0]), 3)) //nolint:mnd // As kubectl's.
	return err
}

// Note is an item of a list, in lines of a page.
func Note(text string) string {
	const most = 1000
	return printable.Wrap("- ", printable.Line(printable.Clip(text, most)), "  ", Page)
}
