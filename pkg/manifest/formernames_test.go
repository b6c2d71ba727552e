package manifest_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/manifest"
)

// A renamed workload keeps the demand of its former names where it has none, and its starts.
func TestFormerNames(t *testing.T) {
	o := object(t, header+
		"spec: {targetRef: {kind: Deployment, name: green}, formerNames: [blue, llama], signal: {preset: vllm/inflight}}")
	got := resolve(t, o)
	want := `vllm/inflight{namespace="inference",Deployment="green"} or vllm/inflight{namespace="inference",Deployment="blue"}` +
		` or vllm/inflight{namespace="inference",Deployment="llama"}`
	if got.Expr != want {
		t.Error(got.Expr)
	}
	for ref, is := range map[string]bool{
		"Deployment.apps/green": true, "Deployment.apps/blue": true, "Deployment.apps/red": false, "StatefulSet.apps/blue": false, "": false,
	} {
		if manifest.IsWorkload(o, ref) != is {
			t.Errorf("%q: %v, want %v", ref, !is, is)
		}
	}
	for names, field := range map[string]string{"No": "spec.formerNames[0]", "a b c d e": "spec.formerNames"} {
		o.Spec.FormerNames = strings.Split(names, " ")
		_, problems := manifest.NewResolver(catalogue{}).Resolve(o)
		if len(problems) != 1 || problems[0].Field != field {
			t.Errorf("%s: %v", names, problems)
		}
	}
}
