package reference

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// ConditionKind is a kind of object. Constants of the packages in Folders (or of single files) are its conditions and their reasons.
type ConditionKind struct {
	Title, Text string
	Folders     []string
}

// condition is a condition of an object, with the reasons that it may have.
type condition struct {
	name, text string
	reasons    []reason
}

// reason is a reason of a condition: the statuses with which it occurs, what it means, and what to do about it.
type reason struct{ name, status, meaning, fix string }

// The comments of constants that the page is made from. A group of constants is announced by its first sentence:
//
//	Conditions of a Forecast.
//	Reasons of the condition Ready.
//
// The comment of a condition is text. That of a reason is "Name (True): meaning." and, where there is something to do, a
// paragraph that begins with "Fix: ".
var (
	conditionGroup = regexp.MustCompile(`^Conditions of an? \w+\.`)
	reasonGroup    = regexp.MustCompile(`^Reasons of the condition (\w+)\.`)
	reasonComment  = regexp.MustCompile(`^(\w+) \((True|False|True or False|Unknown)\): (.+)$`)
	documentPath   = regexp.MustCompile(`docs/([a-z-]+)\.md(#[a-z-]+)?`)
)

// WriteConditions writes a table of reasons for each condition of each kind. The error names every constant whose comment
// is not of the form that the page is made from.
func WriteConditions(out io.Writer, kinds ...ConditionKind) error {
	var problems []error
	for _, kind := range kinds {
		r := conditionReader{reasons: map[string][]reason{}}
		for _, folder := range kind.Folders {
			problems = append(problems, readFolder(folder, r.readGroup))
		}
		problems = append(problems, r.assign(kind.Title))
		fmt.Fprintf(out, "\n## %s\n\n%s\n", kind.Title, kind.Text)
		for _, c := range r.conditions {
			writeCondition(out, &c)
		}
	}
	return errors.Join(problems...)
}

func writeCondition(out io.Writer, c *condition) {
	fmt.Fprintf(out, "\n### %s\n\n%s\n", c.name, linked(c.text))
	if len(c.reasons) == 0 {
		return
	}
	fmt.Fprint(out, "\n| reason | status | meaning | what to do |\n|---|---|---|---|\n")
	for _, r := range c.reasons {
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", r.name, r.status, cell(r.meaning), cell(r.fix))
	}
}

// cell is a text within a table.
func cell(text string) string { return strings.ReplaceAll(linked(text), "|", `\|`) }

// linked replaces the paths of pages by links from docs/reference to them.
func linked(text string) string { return documentPath.ReplaceAllString(text, "[$1](../$1.md$2)") }

// conditionReader collects conditions from the constants of packages.
type conditionReader struct {
	conditions []condition
	// reasons has the reasons of each condition.
	reasons map[string][]reason
}

// readFolder calls a function for each group of constants of the package in a folder.
func readFolder(folder string, read func(group *ast.GenDecl) error) error {
	pattern := filepath.Join(folder, "*.go")
	if filepath.Ext(folder) == ".go" {
		pattern = folder
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	var problems []error
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if err := readFile(file, read); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", file, err))
		}
	}
	return errors.Join(problems...)
}

func readFile(file string, read func(group *ast.GenDecl) error) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	var problems []error
	for _, d := range parsed.Decls {
		if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.CONST {
			problems = append(problems, read(group))
		}
	}
	return errors.Join(problems...)
}

// readGroup reads a group of constants; those of other kinds are skipped.
func (r *conditionReader) readGroup(group *ast.GenDecl) error {
	text := group.Doc.Text()
	found := reasonGroup.FindStringSubmatch(text)
	if found == nil && !conditionGroup.MatchString(text) {
		return nil
	}
	var problems []error
	for _, s := range group.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok {
			continue
		}
		value, err := constant(spec)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", spec.Names[0].Name, err))
			continue
		}
		paragraphs := paragraphsOf(spec.Doc.Text())
		if found == nil {
			r.conditions = append(r.conditions, condition{name: value, text: conditionText(spec, value, paragraphs)})
			continue
		}
		one, err := reasonOf(value, paragraphs)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", spec.Names[0].Name, err))
		}
		r.reasons[found[1]] = append(r.reasons[found[1]], one)
	}
	return errors.Join(problems...)
}

// conditionText returns the comment of a condition, with the name that users see.
func conditionText(spec *ast.ValueSpec, name string, paragraphs []string) string {
	return strings.ReplaceAll(strings.Join(paragraphs, "\n\n"), spec.Names[0].Name, "`"+name+"`")
}

func reasonOf(value string, paragraphs []string) (reason, error) {
	out := reason{name: value}
	for i, p := range paragraphs {
		fix, isFix := strings.CutPrefix(p, "Fix: ")
		switch found := reasonComment.FindStringSubmatch(p); {
		case i == 0 && found != nil:
			out.status, out.meaning = found[2], sentence(found[3])
		case i > 0 && isFix:
			out.fix = sentence(fix)
		default:
			return out, fmt.Errorf(`the comment %q is not "Name (True): meaning." or "Fix: what to do."`, p)
		}
	}
	return out, missing(out.meaning)
}

func missing(meaning string) error {
	if meaning == "" {
		return errors.New(`no comment: write "Name (True): meaning."`)
	}
	return nil
}

// sentence capitalizes a text for a table cell.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// paragraphsOf returns the paragraphs of a comment, each on one line.
func paragraphsOf(comment string) []string {
	var out []string
	for p := range strings.SplitSeq(strings.TrimSpace(comment), "\n\n") {
		if line := strings.Join(strings.Fields(p), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// constant returns the value of a constant that is a text.
func constant(spec *ast.ValueSpec) (string, error) {
	if len(spec.Names) == 1 && len(spec.Values) == 1 {
		if value, ok := spec.Values[0].(*ast.BasicLit); ok && value.Kind == token.STRING {
			return strconv.Unquote(value.Value)
		}
	}
	return "", errors.New("the value is not a text")
}

// assign assigns the reasons to their conditions. The error lists reasons of conditions that do not exist.
func (r *conditionReader) assign(kind string) error {
	if len(r.conditions) == 0 {
		return fmt.Errorf("%s: no conditions found", kind)
	}
	for i := range r.conditions {
		c := &r.conditions[i]
		c.reasons = r.reasons[c.name]
		delete(r.reasons, c.name)
	}
	for name := range r.reasons {
		return fmt.Errorf("%s: there are reasons of the condition %s, which does not exist", kind, name)
	}
	return nil
}
