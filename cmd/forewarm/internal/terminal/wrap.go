package terminal

import "strings"

// Wrap breaks a text between words into lines of a width, in bytes, each with an indent and a line feed.
func Wrap(text, indent string, width int) string {
	var lines strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width && line != indent {
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
