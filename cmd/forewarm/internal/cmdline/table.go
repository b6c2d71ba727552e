package cmdline

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/forewarm/forewarm/pkg/printable"
)

// Page is the width of what people read, in columns, where no terminal has another.
const Page = 100

// Table writes lines of cells below heads.
func Table(out io.Writer, heads string, lines [][]string) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, heads)
	for _, line := range lines {
		cells := make([]string, len(line))
		for i, cell := range line {
			cells[i] = printable.Line(cell)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// Note is an item of a list, in lines of a page.
func Note(text string) string {
	const most = 1000
	return "- " + strings.TrimPrefix(Wrap(printable.Line(printable.Clip(text, most)), "  ", Page), "  ")
}
