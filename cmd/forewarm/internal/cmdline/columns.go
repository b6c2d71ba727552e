package cmdline

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/forewarm/forewarm/pkg/printable"
)

// Raw is where a terminal's own commands are written, such as colours, which a printable.Writer would escape. Nothing goes
// there that others wrote.
func Raw(out io.Writer) io.Writer {
	if w, ok := out.(*printable.Writer); ok {
		return w.Unwrap()
	}
	return out
}

// Columns is the width of a terminal, and whether it is one: otherwise, and where a terminal does not tell, a width is
// given.
func Columns(out io.Writer, otherwise int) (columns int, is bool) {
	file, ok := Raw(out).(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return otherwise, false
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		return width, true
	}
	return otherwise, true
}

// ColumnsAndColor is the width of a terminal, and whether it may have colours.
func ColumnsAndColor(out io.Writer, otherwise int) (columns int, color bool) {
	columns, is := Columns(out, otherwise)
	return columns, is && os.Getenv("NO_COLOR") == ""
}
