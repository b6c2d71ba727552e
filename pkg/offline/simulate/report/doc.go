// Package report writes a comparison of policies as text for a terminal, as JSON, and as an HTML page.
//
//	compare.Comparison ──> figures  each figure once: name, heading, value, text (figures.go, answers.go, pool.go, forecasts.go)
//	figures            ──> Text     words, tables and charts in characters (text.go, frontier.go)
//	                   ──> JSON     every number by its name
//	                   ──> HTML     one self-contained file with its drawings (html.go, timeline.go, frontier.go)
//
// All three begin with the assumptions or the verdict. Texts from outside (names of files, autoscalers, servers) are
// escaped, so that they contain no terminal codes and no markup.
package report
