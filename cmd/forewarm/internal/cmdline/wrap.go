package cmdline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks a text between words into lines of a width, each with an indent. A no-break space keeps a number and
// its unit together.
func Wrap(text, indent string, width int) string {
	space := func(r rune) bool { return unicode.IsSpace(r) && r != '\u00a0' }
	var lines strings.Builder
	line := indent
	for word := range strings.FieldsFuncSeq(text, space) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width && line != indent {
			lines.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	lines.WriteString(line + "\n")
	return lines.String()
}
