package report_test

import (
	"encoding/json"
	"html/template"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/report"
)

const hostile = `<script>alert("1")</script>`

func rows() []*report.Record {
	return report.Records([]string{"hpa", hostile}, func(r *report.Record, name *string) {
		r.Text("name", "policy", *name).Mark = "¹"
		r.Number("gpuHours", "GPU\nhours", 1234, humanize.Amount).Means(`"paid" for`)
		r.Data("waitSeconds", 90*time.Second)
		r.Number("relativeCost", "cost", math.NaN(), humanize.Number)
		r.Text("", "note", "-")
		r.Data("of", report.Records([]int{1}, func(*report.Record, *int) {}))
	})
}

// Scripts read the members in order, a duration in seconds and an unknown number as null, and no text for people alone.
func TestJSON(t *testing.T) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(rows()[:1]); err != nil {
		t.Fatal(err)
	}
	const want = `[{"name":"hpa","gpuHours":1234,"waitSeconds":90,"relativeCost":null,"of":[{}]}]` + "\n"
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestText(t *testing.T) {
	var facts report.Record
	facts.Add("lead", "Lead time", 5*time.Minute, "5m, as given by the flag")
	facts.Data("seen", true)
	sections := []report.Section{
		{Title: "Title", Sentences: []string{"a sentence of several words", ""}},
		{Title: "Nothing"},
		{Table: rows()[:1], Notes: []string{"¹ a note"}},
		{Facts: &facts, Drawing: "▁█\n", Items: []string{"one item in two lines, the second indented"}},
	}
	const want = `Title
a sentence of several words

          GPU
policy  hours  cost  note
hpa¹    1,234     -     -
¹ a note

▁█
  Lead time                  5m, as given by
                             the flag
  - one item in two lines, the second
    indented
`
	if diff := cmp.Diff(want, report.Text(sections, 45)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A page shows names as they are, and none of them is markup.
func TestHTML(t *testing.T) {
	page := template.Must(report.Templates().New("page").Parse(`{{template "rows" .}}{{template "facts" index . 1}}`))
	var text strings.Builder
	if err := page.Execute(&text, rows()); err != nil {
		t.Fatal(err)
	}
	got := text.String()
	for _, want := range []string{
		`<th scope="col" class="n" title="&#34;paid&#34; for">GPU<br/>hours</th>`, `<td data-label="GPU hours" class="n">1,234</td>`,
		`<th scope="row">&lt;script&gt;`, `<dt>policy</dt><dd>&lt;script&gt;`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "¹") {
		t.Errorf("a name is markup, or the mark of a terminal is shown, in\n%s", got)
	}
}
