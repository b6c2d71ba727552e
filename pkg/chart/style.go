package chart

import (
	_ "embed"
	"html/template"
	"regexp"
	"strings"
)

var (
	//go:embed palette.css
	palette string
	//go:embed chart.css
	rules string
)

// Style is the style sheet of a page with charts: the colours by their names, in light and in dark, and what wears them.
func Style() template.CSS {
	return template.CSS(palette + rules) //nolint:gosec // Our own.
}

// resolved is the style sheet of a picture of its own, with the colours on white in place of their names, which only
// browsers know.
func resolved() string {
	light, _, _ := strings.Cut(palette, "@media")
	var names []string
	for _, colour := range regexp.MustCompile(`(--[a-z0-9-]+): (#[0-9a-f]+);`).FindAllStringSubmatch(light, -1) {
		names = append(names, "var("+colour[1]+")", colour[2])
	}
	return strings.NewReplacer(names...).Replace(rules)
}
