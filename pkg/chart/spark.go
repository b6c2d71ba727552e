package chart

import "html/template"

// Spark returns the marks alone, without ticks and labels, for a row of a table. The title is for screen readers.
func (c *Chart) Spark() (template.HTML, error) {
	out, err := executed("spark.svg", map[string]any{
		"Title": c.Title, "Tall": pixels(c.Tall), "Across": coord(c.Across), "Up": coord(c.Up), "Marks": c.marks,
	})
	return template.HTML(out), err //nolint:gosec // Our own template, which escapes its strings.
}
