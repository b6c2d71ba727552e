// Command paragraphs draws paragraphs from what people read: the documentation, the help of commands, and the messages in the code. Read
// them with fresh eyes, and mark each sentence that needs a second reading. It is run in the root of the repository:
//
//	go run ./hack/paragraphs [-n 40] [-seed TEXT]
//
// The seed is the hash of the current commit, so that everyone who reads a commit reads the same paragraphs.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	count := flag.Int("n", 40, "how many paragraphs")
	seed := flag.String("seed", "", "what decides the draw (default: the hash of the current commit)")
	flag.Parse()
	if err := run(*count, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "paragraphs:", err)
		os.Exit(1)
	}
}

// paragraph is a text and where it is from.
type paragraph struct{ place, text string }

// run draws a half from the pages, a quarter from the help, and a quarter from the messages.
func run(count int, seed string) error {
	hash, err := exec.CommandContext(context.Background(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("read the commit: %w", err)
	}
	seed = cmp.Or(seed, strings.TrimSpace(string(hash)))
	pages, err := readPages()
	if err != nil {
		return err
	}
	help, err := readHelp()
	if err != nil {
		return err
	}
	messages, err := readMessages()
	if err != nil {
		return err
	}
	sum := fnv.New64a()
	sum.Write([]byte(seed))
	draw := rand.New(rand.NewPCG(sum.Sum64(), 1))
	fmt.Printf("Seed %s; %d paragraphs of pages, %d of help, %d messages.\n", seed, len(pages), len(help),
		len(messages))
	for _, part := range []struct {
		of    []paragraph
		count int
	}{{pages, count - count/4*2}, {help, count / 4}, {messages, count / 4}} {
		for _, i := range draw.Perm(len(part.of))[:min(part.count, len(part.of))] {
			fmt.Printf("\n[%s]\n%s\n", part.of[i].place, part.of[i].text)
		}
	}
	return nil
}

// minWords is the length of a text that is worth reading, in words.
const minWords = 8

// readPages returns the paragraphs and list items of the documentation, without code, tables and headings.
func readPages() (all []paragraph, err error) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		return nil, err
	}
	for _, page := range append(pages, "README.md", "deploy/README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		code := false
		for block := range strings.SplitSeq(string(text), "\n\n") {
			fences := strings.Count(block, "```")
			isCode := code || fences > 0 || strings.HasPrefix(block, "    ")
			code = code != (fences%2 == 1)
			if !isCode && !strings.HasPrefix(block, "#") && !strings.Contains(block, "|--") {
				all = appendText(all, page, block)
			}
		}
	}
	return all, nil
}

// readHelp returns the paragraphs of the commands' help.
func readHelp() (all []paragraph, err error) {
	const page = "docs/reference/cli.md"
	text, err := os.ReadFile(page)
	for block := range strings.SplitSeq(string(text), "\n\n") {
		if !strings.Contains(block, "```") && !strings.HasPrefix(block, "Examples:") {
			all = appendText(all, page, block)
		}
	}
	return all, err
}

// readMessages returns the texts in the code that have the length of a sentence.
func readMessages() (all []paragraph, err error) {
	for _, root := range []string{"pkg", "cmd"} {
		err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || strings.HasSuffix(entry.Name(), "test")):
				return fs.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(entry.Name(), "zz_"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				expr, isExpr := n.(ast.Expr)
				text, isText := literal(expr)
				if isExpr && isText {
					all = appendText(all, path, text)
				}
				return !isText
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// literal returns the text of a literal, or of a sum of literals.
func literal(expr ast.Expr) (text string, is bool) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, isLeft := literal(e.X)
		right, isRight := literal(e.Y)
		return left + right, isLeft && isRight
	}
	return "", false
}

// appendText appends a text, unless it is short, a query or an object.
func appendText(all []paragraph, place, text string) []paragraph {
	words := strings.Fields(text)
	isCode := func(word string) bool { return strings.ContainsAny(word, "{}=;<>") }
	if len(words) < minWords || len(slices.DeleteFunc(slices.Clone(words), isCode)) < len(words)*3/4 {
		return all
	}
	return append(all, paragraph{place, strings.TrimSpace(text)})
}
