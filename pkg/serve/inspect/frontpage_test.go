package inspect_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// front is the front page of a standalone server, and the links of its rows.
func front(t *testing.T, entries ...*snapshot.ForecastSnapshot) (page string, links []string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	inspect.FrontPage(snapshottest.Store(entries...), "", snapshottest.Now).ServeHTTP(recorder, nil)
	if recorder.Code != http.StatusOK || recorder.Header().Get("Content-Security-Policy") == "" {
		t.Errorf("%d, header %v", recorder.Code, recorder.Header())
	}
	page = recorder.Body.String()
	return page, rowLinks(page)
}

func rowLinks(page string) (links []string) {
	for _, m := range regexp.MustCompile(`<th scope="row"><a href="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		links = append(links, m[1])
	}
	return links
}

// What needs a look comes before names that sort earlier.
func TestFrontPageBeginsWithWhatNeedsALook(t *testing.T) {
	entries := snapshottest.EveryState()
	verdict := func(name string, v objective.Verdict) {
		e := snapshottest.WithObjective(snapshottest.Key(name))
		e.Objective = snapshottest.ObjectiveReport(v)
		entries = append(entries, e)
	}
	condition := func(name, kind string, is bool) {
		e := snapshottest.Ready(snapshottest.Key(name))
		e.Conditions = append(slices.Clone(e.Conditions),
			snapshot.Condition{Type: kind, True: is, Message: "numbers of " + kind})
		entries = append(entries, e)
	}
	verdict("a-missed", objective.AtMaxReplicas)
	verdict("a-learning", objective.Learning)
	condition("b-saturated", snapshot.ConditionSaturated, true)
	condition("c-unclean", snapshot.ConditionData, false)
	condition("d-zero", snapshot.ConditionScaledToZero, true)
	entries = append(entries, snapshottest.Paused(snapshottest.Key("d-paused")))
	old := snapshottest.Ready(snapshottest.Key("z-too-old"))
	old.StaleAt = snapshottest.Now().Add(-time.Second)
	page, links := front(t, append(entries, old)...)
	want := []string{
		"invalid", "pending", "stale", "z-too-old", // Nothing is served.
		"b-saturated", "c-unclean", "d-paused", "falling-back", // A condition.
		"a-missed", "a-learning", "d-zero", "objective", "ready", "warming",
	}
	for i := range want {
		want[i] = "apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/" + want[i] + "/page"
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	says(
		t,
		page,
		"9 of 14 Forecasts need attention. They are listed first.",
		"Stale: the newest sample is 42m old",
		"Saturated: numbers of Saturated",
		"Paused: Forewarm serves the observed demand × 2",
		`<td data-label="Objective" class="n">paused</td>`,
		"DataClean: numbers of DataClean",
		"SourceHealthy: query: 503",
		"maxReplicas is too low. Raise it.",
		`<p class="say dim">Too late: 2.4% of the demand was late, but the objective allows only 1%.</p>`,
		"1% late",
		"quantile 0.95",
		`<td data-label="Late" class="n missed">2.4%</td><td data-label="Relative cost" class="n">1.7</td>`,
		"no samples",
		`aria-label="at most 1`,
		`<path class="observed"`,
	)
	lacks(t, page, "numbers of ScaledToZero")
}

// The page is bounded, and what needs a look is the last to be left out.
func TestFrontPageOfNoneAndMany(t *testing.T) {
	if page, _ := front(t); !strings.Contains(page, "There are no Forecasts yet.") ||
		strings.Contains(page, "<table") {
		t.Errorf("without Forecasts:\n%s", page)
	}
	stale := snapshottest.Stale(snapshot.Key{Namespace: "z", Name: "z"})
	page, links := front(t, append(snapshottest.Many(509), stale)...)
	if len(links) != 500 || !strings.HasSuffix(links[0], "/z/outlooks/z/page") || len(page) > 1<<20 {
		t.Errorf("%d bytes, %d rows, the first %s", len(page), len(links), links[0])
	}
	says(t, page, "1 of 510 Forecasts needs attention. It is listed first. 10 more are not shown.")
}

func TestFrontPageOfHostileEntries(t *testing.T) {
	const attack = `</style></svg></table><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "\x00\x1b\u202e"
	hostile := snapshottest.FallingBack(snapshot.Key{Namespace: attack, Name: "javascript:" + attack})
	hostile.Unit, hostile.State = attack, snapshot.State(attack)
	serving := snapshottest.FallingBack(snapshottest.Key("javascript:alert(1)"))
	serving.Unit, serving.Conditions[1].Type = attack, attack
	serving.Conditions[1].Message = strings.Repeat("x", 10_000)
	entries := []*snapshot.ForecastSnapshot{hostile, serving}
	for _, e := range oddEntries() {
		entries = append(entries, e)
	}
	page, links := front(t, entries...)
	lacks(t, page, "<script", "<img", "\x1b", "\u202e", `"javascript`, "NaN", "Inf<", strings.Repeat("x", 400), "url(")
	if len(links) != len(entries) || !strings.Contains(page, "&lt;script&gt;") || !strings.Contains(page, "</html>") {
		t.Errorf("%d rows of %d, or the page does not show the text", len(links), len(entries))
	}
}

// In a namespace the page lists that namespace alone, with links from where it is.
func TestFrontPageOfANamespace(t *testing.T) {
	other := snapshottest.Ready(snapshot.Key{Namespace: "other", Name: "elsewhere"})
	page := browse(t, snapshottest.Store(append(snapshottest.EveryState(), other)...), "-", "frontpage").Body.String()
	if links := rowLinks(page); len(links) != 7 || links[0] != "../invalid/page" ||
		strings.Contains(page, "elsewhere") {
		t.Errorf("links %q", links)
	}
	says(t, page, `href="../../outlooks">JSON`, "kubectl get outlooks -n inference", "<title>inference · Forecasts")
}
