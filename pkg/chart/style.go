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

// Style returns the style sheet of a page with charts: the colours as variables, in light and dark mode, and the rules
// that use them.
func Style() template.CSS {
	return template.CSS(palette + rules) //nolint:gosec // Our own.
}

// standaloneStyle returns the style sheet of a standalone picture, with the light colours in place of the variables,
// which only browsers support.
func standaloneStyle() string {
	light, _, _ := strings.Cut(palette, "@media")
	var names []string
	for _, colour := range regexp.MustCompile(`(--[a-z0-9-]+): (#[0-9a-f]+);`).FindAllStringSubmatch(light, -1) {
		names = append(names, "var("+colour[1]+")", colour[2])
	}
	return strings.NewReplacer(names...).Replace(rules)
}
