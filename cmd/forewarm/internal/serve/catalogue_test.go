package serve_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/manifest"
)

func TestCatalogueConfines(t *testing.T) {
	const query = `sum(rate(http_requests_total[1m]))`
	catalogue := serve.Catalogue{Label: "ns", Free: []string{"platform"}}
	source, err := catalogue.Source("", "team-a")
	if err != nil {
		t.Fatal(err)
	}
	confined, err := catalogue.Confine(query, "team-a", source)
	if err != nil || !strings.Contains(confined.Expr, `ns="team-a"`) || !confined.Rate {
		t.Errorf("team-a asks %+v (%v), want its own namespace's rate", confined, err)
	}
	free, err := catalogue.Confine(query, "platform", source)
	if err != nil || free.Expr != query || !free.Rate {
		t.Errorf("platform asks %+v (%v), want the query as it is", free, err)
	}
	for _, namespace := range []string{"team-a", "platform"} {
		if got, err := catalogue.Confine("sum(", namespace, source); err == nil {
			t.Errorf("%s may ask %+v, want an error", namespace, got)
		}
	}
	if got, err := catalogue.Source("team-b", "team-a"); err == nil {
		t.Errorf("where there is one source, team-b's is %+v", got)
	}
	own := manifest.Source{TenantLabel: "tenant"}
	if got, err := catalogue.Confine(query, "team-a", own); err != nil ||
		!strings.Contains(got.Expr, `{tenant="team-a"}`) {
		t.Errorf("in a source of its own team-a asks %+v (%v), want by the label of the source", got, err)
	}
}
