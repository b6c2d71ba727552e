package serve_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
)

// A decision is of exactly one request of exactly one user.
func TestGrantsOfDifferentRequestsAreDifferent(t *testing.T) {
	asked := 0
	grants := serve.CachedGrants(authorizer.AuthorizerFunc(
		func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			asked++
			return authorizer.DecisionAllow, "", nil
		}), time.Minute, time.Second)
	who := func(name, uid string, extra map[string][]string, groups ...string) user.Info {
		return &user.DefaultInfo{Name: name, UID: uid, Groups: groups, Extra: extra}
	}
	for i, request := range []authorizer.AttributesRecord{
		{},
		{User: who("a", "", nil)},
		{User: who("", "a", nil)},
		{User: who("", "", nil, "a")},
		{User: who("", "", nil, "a", "b")},
		{User: who("", "", nil, "a1 b")},
		{User: who("", "", map[string][]string{"a": {"b"}})},
		{User: who("", "", map[string][]string{"a": {"b", "c"}})},
		{User: who("", "", map[string][]string{"a": {"b"}, "c": nil})},
		{User: who("", "", map[string][]string{"a": nil, "b": nil})},
		{ResourceRequest: true},
		{Verb: "a"},
		{Path: "a"},
		{Namespace: "a"},
		{APIGroup: "a"},
		{APIVersion: "a"},
		{Resource: "a"},
		{Subresource: "a"},
		{Name: "a"},
	} {
		for range 2 {
			if _, _, err := grants.Authorize(t.Context(), request); err != nil || asked != i+1 {
				t.Errorf("%+v: the cluster was asked %d times, want %d, %v", request, asked, i+1, err)
			}
		}
	}
}

// Errors are not kept, refusals for a shorter time than grants.
func TestDecisionsAreKeptForTheirTime(t *testing.T) {
	for _, test := range []struct {
		name     string
		decision authorizer.Decision
		err      error
		kept     time.Duration
	}{
		{"allowed", authorizer.DecisionAllow, nil, time.Minute},
		{"denied", authorizer.DecisionDeny, nil, 10 * time.Second},
		{"no opinion", authorizer.DecisionNoOpinion, nil, 10 * time.Second},
		{"an error", authorizer.DecisionNoOpinion, errors.New("no cluster"), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				grants := serve.CachedGrants(authorizer.AuthorizerFunc(
					func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
						asked++
						return test.decision, "why", test.err
					}), time.Minute, 10*time.Second)
				for i, after := range []time.Duration{0, test.kept - time.Second, 2 * time.Second} {
					time.Sleep(after)
					before := asked
					decision, reason, err := grants.Authorize(t.Context(), authorizer.AttributesRecord{})
					if decision != test.decision || reason != "why" || !errors.Is(err, test.err) {
						t.Errorf("%v %q %v", decision, reason, err)
					}
					if kept := asked == before; kept != (i == 1 && test.err == nil) {
						t.Errorf("request %d, after %s more: kept %t", i, after, kept)
					}
				}
			})
		})
	}
}
