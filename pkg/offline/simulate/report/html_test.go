package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// hostile is a name that would drive a terminal or a page.
const hostile = "</title></svg><script>alert(1)</script>\x1b[2J\u202e\"'"

// element is one of the page, with what it holds.
type element struct {
	name     string
	attr     map[string]string
	text     string
	children []*element
}

// parsed reads a page as XML, which is stricter than HTML: what is not closed or not escaped is an error.
func parsed(t *testing.T, c *compare.Comparison) *element {
	t.Helper()
	text := asHTML(t, c)
	decoder := xml.NewDecoder(strings.NewReader(text))
	root := &element{name: "page"}
	path := []*element{root}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v\n%s", err, text)
		}
		at := path[len(path)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attr: make(map[string]string)}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			at.children = append(at.children, e)
			path = append(path, e)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			for _, open := range path {
				open.text += string(token)
			}
		}
	}
}

// all are the elements of a name, at any depth.
func (e *element) all(name string) []*element {
	var out []*element
	for _, child := range e.children {
		if child.name == name {
			out = append(out, child)
		}
		out = append(out, child.all(name)...)
	}
	return out
}

// of a class.
func of(all []*element, class string) []*element {
	return slices.DeleteFunc(slices.Clone(all), func(e *element) bool {
		return !slices.Contains(strings.Fields(e.attr["class"]), class)
	})
}

// charts are the drawings of the page: those that stand in no other one.
func charts(p *element) []*element { return of(p.all("svg"), "chart") }

func TestChartsCanBeRead(t *testing.T) {
	c := comparison()
	p := parsed(t, c)
	if n := len(charts(p)); n != len(c.Policies)+3 {
		t.Fatalf("%d drawings, want one for each policy, two close up and the frontier", n)
	}
	ids := make(map[string]bool)
	for _, chart := range charts(p) {
		for name := range strings.FieldsSeq(chart.attr["aria-labelledby"]) {
			if ids[name] {
				t.Errorf("two things are called %s", name)
			}
			ids[name] = true
		}
		title, desc := chart.children[0], chart.children[1]
		if title.name != "title" || title.text == "" || desc.name != "desc" || desc.text == "" {
			t.Error("a drawing has no title or no description")
		}
		if chart.attr["aria-labelledby"] != title.attr["id"]+" "+desc.attr["id"] {
			t.Errorf("a drawing is labelled by %s", chart.attr["aria-labelledby"])
		}
	}
	inFull, folded := p.all("figure"), 0
	for _, d := range p.all("details") {
		folded += len(d.all("figure"))
	}
	if shown := len(inFull) - folded; shown != 5 {
		t.Errorf("%d drawings are shown at once, want hpa and forewarm twice, and the frontier", shown)
	}
}

// The close-up shows the stretch in which the most was late, and there is none where nothing was or little is known.
func TestCloseUp(t *testing.T) {
	c := comparison()
	heads := parsed(t, c).all("h3")
	if len(heads) != 1 || !strings.HasPrefix(heads[0].text, "Close-up: 4 November 0") {
		t.Errorf("the close-up of a history whose worst is in the morning of 4 November is %v", heads)
	}
	for i := range c.Policies {
		p := &c.Policies[i]
		p.Timeline = slices.Clone(p.Timeline)
		for j := range p.Timeline {
			p.Timeline[j].Late = 0
		}
	}
	if heads = parsed(t, c).all("h3"); len(heads) != 0 {
		t.Errorf("nothing was late, and yet there is %q", heads[0].text)
	}
	short := comparison()
	for i := range short.Policies {
		all := short.Policies[i].Timeline
		short.Policies[i].Timeline = all[:min(90, len(all))]
	}
	if heads = parsed(t, short).all("h3"); len(heads) != 0 {
		t.Errorf("30 hours are short enough, and yet there is %q", heads[0].text)
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	p := parsed(t, withAnswers())
	for _, name := range []string{"script", "link", "img", "iframe", "image", "use", "object"} {
		if n := len(p.all(name)); n > 0 {
			t.Errorf("%d of %s", n, name)
		}
	}
	style := p.all("style")[0].text
	for _, outside := range []string{"url(", "@import", "http"} {
		if strings.Contains(style, outside) {
			t.Errorf("the style holds %q", outside)
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "@media print"} {
		if !strings.Contains(style, want) {
			t.Errorf("the style does not know %q", want)
		}
	}
}

// What others named is shown as it is and is never markup: the page has the same elements as without it.
func TestPageEscapes(t *testing.T) {
	c := withAnswers()
	before := census(parsed(t, c))
	c.Assumptions.Source, c.Assumptions.Autoscaler, c.Assumptions.LeadTime = hostile, hostile, hostile
	c.Verdict, c.Notes, c.Policies[2].Name = hostile, []string{hostile}, hostile
	for i := range c.Scenarios {
		c.Scenarios[i].Name = hostile
		for j := range c.Scenarios[i].Parts {
			c.Scenarios[i].Parts[j].Name = hostile
		}
	}
	c.WarmPool.Pool.Name, c.WarmPool.Pool.Member = hostile, hostile
	p := parsed(t, c)
	if after := census(p); !maps.Equal(before, after) {
		t.Errorf("elements were %v and are %v", before, after)
	}
	if !strings.Contains(p.text, "<script>alert(1)") &&
		!strings.Contains(of(p.all("p"), "verdict")[0].text, "<script>") {
		t.Error("the text is not shown at all")
	}
	if strings.ContainsAny(p.text, "\x1b\u202e") {
		t.Error("the page holds what hides text")
	}
}

// census counts the elements by their names.
func census(e *element) map[string]int {
	out := make(map[string]int)
	for _, child := range e.children {
		out[child.name]++
		for name, n := range census(child) {
			out[name] += n
		}
	}
	return out
}

func TestPageOfLittle(t *testing.T) {
	odd := comparison()
	odd.Partial = true
	nan := math.NaN()
	p := &odd.Policies[0]
	p.Timeline = []compare.Slot{
		{Demand: nan, Ready: nan, Paid: nan, Late: nan}, {Demand: 1, Ready: 0, Paid: 1e9, Late: 1}, {Demand: nan},
	}
	p.Frontier = []compare.Point{{Late: nan, RelativeCost: nan}, {Late: 0.01, RelativeCost: math.Inf(1)}}
	for name, c := range map[string]*compare.Comparison{"nothing": {}, "odd numbers": odd} {
		told := parsed(t, c)
		for _, e := range told.all("path") {
			if strings.Contains(e.attr["d"], "N") || strings.Contains(e.attr["d"], "I") {
				t.Errorf("%s: a path of %s", name, e.attr["d"])
			}
		}
		if strings.Contains(told.text, "NaN") {
			t.Errorf("%s: the page says NaN", name)
		}
		if warned := len(of(told.all("p"), "warning")) == 1; warned != c.Partial {
			t.Errorf("%s: an interruption is told: %t", name, warned)
		}
	}
}
