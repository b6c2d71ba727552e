// Package report tells a comparison of policies: to a terminal, to programs and, as a page that can be mailed, to whoever
// pays for the GPUs.
//
//	compare.Comparison ──> Text  words, a table and charts in characters (text.go, frontier.go)
//	                   ──> JSON  every number by its name (json.go)
//	                   ──> HTML  one file with its drawings, which needs nothing beside itself (html.go, course.go,
//	                             frontier.go)
//
// All three begin with what the figures rest on, or with what they come to. What they are given in words (names of files,
// of autoscalers, of servers) is shown and never obeyed: no terminal codes, no markup.
package report
