// Package repotest tests what no package can test of itself: that the pages say what the code says, that the map and the links of
// doc comments lead somewhere, and that no layer depends on another that it may not know. For these and other tests it reads the
// project's Markdown pages: their blocks of code, and the commands in them.
package repotest

import (
	"path/filepath"
	"strings"
)

// Pages returns the pages below the project's root that are written by hand and describe Forewarm, as paths from there.
func Pages(root string) ([]string, error) {
	pages := []string{"README.md", "CONTRIBUTING.md", "deploy/README.md"}
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	for _, page := range found {
		pages = append(pages, "docs/"+filepath.Base(page))
	}
	return pages, err
}

// Block is a block of code of a page, fenced or indented.
type Block struct {
	// Line is the number of its first line; the first line of a page is 1.
	Line int
	// Language is that of the fence, for example yaml. It is empty for an indented block.
	Language string
	// Intro is the last line of text before the block.
	Intro string
	Text  string
}

// Split returns the blocks of code of a page, and its other lines.
func Split(page string) (blocks []Block, prose []string) {
	lines := strings.Split(page, "\n")
	intro := ""
	for i := 0; i < len(lines); {
		b, next := blockAt(lines, i)
		if next > i {
			b.Intro = intro
			blocks, prose = append(blocks, b), append(prose, "")
			i = next
			continue
		}
		prose = append(prose, lines[i])
		if text := strings.TrimSpace(lines[i]); text != "" {
			intro = text
		}
		i++
	}
	return blocks, prose
}

// blockAt returns the block that begins with a line, and the number of the line after it. If there is no block, it returns the same line.
func blockAt(lines []string, at int) (b Block, next int) {
	fence, fenced := strings.CutPrefix(strings.TrimSpace(lines[at]), "```")
	// An indented block does not interrupt a paragraph.
	indented := strings.HasPrefix(lines[at], "    ") && (at == 0 || strings.TrimSpace(lines[at-1]) == "")
	if !fenced && !indented {
		return b, at
	}
	first, inside := at, func(line string) bool { return line == "" || strings.HasPrefix(line, "    ") }
	if fenced {
		first++
		inside = func(line string) bool { return !strings.HasPrefix(strings.TrimSpace(line), "```") }
	}
	last := first
	for last < len(lines) && inside(lines[last]) {
		last++
	}
	b = Block{Line: first + 1, Language: fence, Text: dedent(lines[first:last], fenced)}
	if fenced {
		last++
	}
	return b, last
}

// dedent joins the lines of a block. An indented block loses the indentation of its first line.
func dedent(lines []string, fenced bool) string {
	indent := ""
	if !fenced {
		indent = lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
	}
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(strings.TrimPrefix(line, indent) + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// Code returns the code within the lines of a text: what stands between backquotes.
func Code(prose []string) []string {
	var out []string
	for _, line := range prose {
		for i, part := range strings.Split(line, "`") {
			if i%2 == 1 {
				out = append(out, part)
			}
		}
	}
	return out
}

// Command is a command line that a page shows.
type Command struct {
	// Line is that of its block, or 0 for code within a line.
	Line int
	Args []string
	// Output is what the page shows of its output: the block that follows a line that ends with "prints:".
	Output string
}

// Commands returns the command lines of a page that run a program: those in its blocks of code, and those within lines.
func Commands(page, program string) []Command {
	var out []Command
	blocks, prose := Split(page)
	last := -1 // The last command of the last block that has one.
	for _, b := range blocks {
		if strings.HasSuffix(b.Intro, "prints:") && last >= 0 {
			out[last].Output, last = b.Text, -1
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(b.Text, "\\\n", " ")) {
			for _, args := range commandsOf(line, program) {
				last = len(out)
				out = append(out, Command{Line: b.Line, Args: args})
			}
		}
	}
	for _, code := range Code(prose) {
		for _, args := range commandsOf(code, program) {
			out = append(out, Command{Args: args})
		}
	}
	return out
}

// commandsOf returns the commands of a line of shell that run a program.
func commandsOf(line, program string) [][]string {
	line, _, _ = strings.Cut(line, " #")
	var out [][]string
	for command := range strings.SplitSeq(line, "|") {
		command, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(command), "$ "), " > ")
		args := Words(command)
		// A command is in lower case, or is a flag. In a table, a number may follow the name of a policy.
		if len(args) > 1 && strings.TrimPrefix(args[0], "bin/") == program &&
			(args[1][0] == '-' || 'a' <= args[1][0] && args[1][0] <= 'z') {
			out = append(out, args)
		}
	}
	return out
}

// Words splits a command line into words, with '…' and "…" as a shell reads them.
func Words(line string) []string {
	var out []string
	var quote rune
	open := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			open = false
			continue
		default:
			if !open {
				out, open = append(out, ""), true
			}
			out[len(out)-1] += string(r)
		}
	}
	return out
}
