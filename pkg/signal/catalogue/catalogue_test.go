package catalogue_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

func TestCatalogueConfines(t *testing.T) {
	const query = `sum(rate(http_requests_total[1m]))`
	one := catalogue.Signals{Label: "ns", Free: []string{"platform"}}
	source, err := one.Source("", "team-a")
	if err != nil {
		t.Fatal(err)
	}
	confined, err := one.Confine(query, "team-a", source)
	if err != nil || !strings.Contains(confined.Expr, `ns="team-a"`) || !confined.Rate {
		t.Errorf("team-a asks %+v (%v), want its own namespace's rate", confined, err)
	}
	free, err := one.Confine(query, "platform", source)
	if err != nil || free.Expr != query || !free.Rate {
		t.Errorf("platform asks %+v (%v), want the query as it is", free, err)
	}
	for _, namespace := range []string{"team-a", "platform"} {
		if got, err := one.Confine("sum(", namespace, source); err == nil {
			t.Errorf("%s may ask %+v, want an error", namespace, got)
		}
	}
	if got, err := one.Source("team-b", "team-a"); err == nil {
		t.Errorf("where there is one source, team-b's is %+v", got)
	}
	own := manifest.Source{TenantLabel: "tenant"}
	if got, err := one.Confine(query, "team-a", own); err != nil ||
		!strings.Contains(got.Expr, `{tenant="team-a"}`) {
		t.Errorf("in a source of its own team-a asks %+v (%v), want by the label of the source", got, err)
	}
}
