package inspect_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// front fetches the front page of a standalone server as a browser would.
func front(tb testing.TB, board *snapshot.Board) *httptest.ResponseRecorder {
	tb.Helper()
	recorder := httptest.NewRecorder()
	inspect.FrontPage(board, snapshottest.Now).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	return recorder
}

var rowLink = regexp.MustCompile(`<th scope="row"><a href="([^"]*)">`)

// rowLinks are the links of the rows, from the top.
func rowLinks(page string) []string {
	var out []string
	for _, m := range rowLink.FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

// named is an entry with a verdict or a condition, by a name that sorts early: urgency must come before it.
func named(name string, change func(e *snapshot.Entry)) *snapshot.Entry {
	e := snapshottest.WithObjective(snapshottest.Key(name))
	change(e)
	return e
}

func TestFrontPageBeginsWithWhatNeedsALook(t *testing.T) {
	condition := func(kind string, is bool) func(*snapshot.Entry) {
		return func(e *snapshot.Entry) {
			e.Conditions = append(e.Conditions, snapshot.Condition{Type: kind, True: is, Message: "numbers of " + kind})
		}
	}
	entries := append(snapshottest.EveryState(),
		named("a-missed", func(e *snapshot.Entry) { e.Objective = snapshottest.ObjectiveReport(objective.AtMaxReplicas) }),
		named("a-learning", func(e *snapshot.Entry) { e.Objective = snapshottest.ObjectiveReport(objective.Learning) }),
		named("b-saturated", condition(snapshot.ConditionSaturated, true)),
		named("c-unclean", condition(snapshot.ConditionData, false)),
		named("d-zero", condition(snapshot.ConditionScaledToZero, true)),
		named("z-too-old", func(e *snapshot.Entry) { e.StaleAt = snapshottest.Now().Add(-time.Second) }),
	)
	response := front(t, snapshottest.Board(entries...))
	page := response.Body.String()
	want := []string{
		"invalid", "pending", "stale", "z-too-old", // Nothing is served.
		"b-saturated", "c-unclean", "falling-back", // A condition.
		"a-missed", "a-learning", "d-zero", "objective", "ready", "warming",
	}
	for i := range want {
		want[i] = "apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/" + want[i] + "/page"
	}
	if diff := cmp.Diff(want, rowLinks(page)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	for _, words := range []string{
		"8 of 13 need a look, and come first.", "Stale: the newest sample is 42m old", "Saturated: numbers of Saturated",
		"DataClean: numbers of DataClean", "SourceHealthy: query: 503", "maxReplicas is too low. Raise it.",
		`<td class="n missed">2.4%</td><td class="n">1.7</td>`, "1% late", "quantile 0.95", "no samples", `aria-label="at most 1`,
	} {
		if !strings.Contains(page, words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	if strings.Contains(page, "numbers of ScaledToZero") {
		t.Error("a workload that is scaled to zero needs a look")
	}
	if got := response.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'") {
		t.Errorf("policy %q", got)
	}
}

func TestFrontPageOfNothing(t *testing.T) {
	if got := front(t, &snapshot.Board{}); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), "no data yet") {
		t.Errorf("before the first snapshot: %d %s", got.Code, got.Body)
	}
	page := front(t, snapshottest.Board()).Body.String()
	if !strings.Contains(page, "There are no Forecasts yet. Create one") || strings.Contains(page, "<table") {
		t.Errorf("without Forecasts:\n%s", page)
	}
}

// The page is bounded, and what needs a look is never among what it leaves out.
func TestFrontPageOfMany(t *testing.T) {
	entries := append(snapshottest.Many(509), snapshottest.Stale(snapshot.Key{Namespace: "z", Name: "z"}))
	page := front(t, snapshottest.Board(entries...)).Body.String()
	links := rowLinks(page)
	if len(links) != 500 || !strings.HasSuffix(links[0], "/z/outlooks/z/page") {
		t.Errorf("%d rows, the first %s", len(links), links[0])
	}
	if !strings.Contains(page, "1 of 510 needs a look, and comes first. Not shown: 10 more. The command below lists all.") {
		t.Error("the page does not say what is not shown")
	}
	if len(page) > 1<<20 {
		t.Errorf("%d bytes for 500 rows", len(page))
	}
}

func TestFrontPageOfHostileEntries(t *testing.T) {
	const attack = `</style></svg></table><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "\x00\x1b\u202e"
	hostile := snapshottest.FallingBack(snapshot.Key{Namespace: attack, Name: "javascript:" + attack})
	hostile.Unit, hostile.State = attack, snapshot.State(attack)
	serving := snapshottest.FallingBack(snapshottest.Key("javascript:alert(1)"))
	serving.Unit, serving.Conditions[0].Type, serving.Conditions[0].Message = attack, attack, attack+strings.Repeat("x", 10_000)
	entries := []*snapshot.Entry{hostile, serving}
	for _, e := range oddEntries() {
		entries = append(entries, e)
	}
	page := front(t, snapshottest.Board(entries...)).Body.String()
	for _, markup := range []string{"<script", "<img", "\x1b", "\u202e", `href="javascript`, "NaN", "Inf<", strings.Repeat("x", 400), "url("} {
		if strings.Contains(page, markup) {
			t.Errorf("the page holds %q", markup)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;") || !strings.Contains(page, "</html>") {
		t.Error("the page does not show the text, or is cut short")
	}
	if n := strings.Count(page, "<tr>"); n != len(entries)+1 {
		t.Errorf("%d rows of %d", n-1, len(entries))
	}
}

// In a namespace the page lists that namespace alone, with links from where it is.
func TestFrontPageOfANamespace(t *testing.T) {
	other := snapshottest.Ready(snapshot.Key{Namespace: "other", Name: "elsewhere"})
	page := browse(t, snapshottest.Board(append(snapshottest.EveryState(), other)...), "-", "frontpage").Body.String()
	if strings.Contains(page, "elsewhere") {
		t.Error("the page lists another namespace")
	}
	if links := rowLinks(page); len(links) != 7 || links[0] != "../invalid/page" {
		t.Errorf("links %q", links)
	}
	for _, words := range []string{`href="../../outlooks">JSON`, "kubectl get outlooks -n inference", "<title>inference · Forecasts"} {
		if !strings.Contains(page, words) {
			t.Errorf("the page does not hold %s", words)
		}
	}
}

func BenchmarkFrontPage(b *testing.B) {
	for _, n := range []int{10, 1000} {
		board := snapshottest.Board(snapshottest.Many(n)...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				front(b, board)
			}
		})
	}
}
