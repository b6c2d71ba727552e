package apiserver_test

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// A decision is of exactly one request of exactly one user.
func TestGrantsOfDifferentRequestsAreDifferent(t *testing.T) {
	asked := 0
	grants := apiserver.CachedGrants(authorizer.AuthorizerFunc(
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
		before   time.Duration // How long before the end the second request is: a grant is not renewed yet then.
	}{
		{"allowed", authorizer.DecisionAllow, nil, time.Minute, 16 * time.Second},
		{"denied", authorizer.DecisionDeny, nil, 10 * time.Second, time.Second},
		{"no opinion", authorizer.DecisionNoOpinion, nil, 10 * time.Second, time.Second},
		{"an error", authorizer.DecisionNoOpinion, errors.New("no cluster"), 0, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				grants := apiserver.CachedGrants(authorizer.AuthorizerFunc(
					func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
						asked++
						return test.decision, "why", test.err
					}), time.Minute, 10*time.Second)
				for i, after := range []time.Duration{0, test.kept - test.before, test.before + time.Second} {
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

// A grant is renewed in the background of the request that finds it, before it expires, and once. A refusal takes effect as soon as it is known; without
// an answer the grant expires.
func TestGrantsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		decision, failure := authorizer.DecisionAllow, error(nil)
		grants := apiserver.CachedGrants(authorizer.AuthorizerFunc(
			func(ctx context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
				asked.Add(1)
				time.Sleep(3 * time.Second)
				return decision, "", cmp.Or(failure, ctx.Err())
			}), time.Minute, 10*time.Second)
		request := func(want authorizer.Decision, wantAsked int64, took time.Duration) {
			t.Helper()
			ctx, gone := context.WithCancel(t.Context())
			began := time.Now()
			got, _, err := grants.Authorize(ctx, authorizer.AttributesRecord{})
			if got != want || time.Since(began) != took || err != nil && failure == nil {
				t.Errorf("%v after %s, %v; want %v after %s", got, time.Since(began), err, want, took)
			}
			gone() // What it began goes on.
			synctest.Wait()
			if n := asked.Load(); n != wantAsked {
				t.Errorf("the cluster was asked %d times, want %d", n, wantAsked)
			}
		}
		request(authorizer.DecisionAllow, 1, 3*time.Second)
		time.Sleep(44 * time.Second)
		request(authorizer.DecisionAllow, 1, 0)
		time.Sleep(2 * time.Second)
		request(authorizer.DecisionAllow, 2, 0)
		request(authorizer.DecisionAllow, 2, 0)
		time.Sleep(20 * time.Second) // The first grant is over.
		request(authorizer.DecisionAllow, 2, 0)
		time.Sleep(30 * time.Second)
		decision = authorizer.DecisionDeny
		request(authorizer.DecisionAllow, 3, 0)
		time.Sleep(4 * time.Second)
		request(authorizer.DecisionDeny, 3, 0)
		time.Sleep(10 * time.Second)
		decision = authorizer.DecisionAllow
		request(authorizer.DecisionAllow, 4, 3*time.Second)
		time.Sleep(50 * time.Second)
		decision, failure = authorizer.DecisionNoOpinion, errors.New("no cluster")
		request(authorizer.DecisionAllow, 5, 0)
		time.Sleep(11 * time.Second)
		request(authorizer.DecisionNoOpinion, 6, 3*time.Second)
	})
}

// A review goes on where its request ends: for all that need it, and so many of them, each for ten seconds.
func TestReviewsOutliveTheirRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, now atomic.Int64
		takes := 3 * time.Second
		grants := apiserver.CachedGrants(authorizer.AuthorizerFunc(
			func(ctx context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
				asked.Add(1)
				now.Add(1)
				defer now.Add(-1)
				select {
				case <-time.After(takes):
					return authorizer.DecisionAllow, "", nil
				case <-ctx.Done():
					return authorizer.DecisionNoOpinion, "", ctx.Err()
				}
			}), time.Minute, time.Second)
		patient := func(name string) (authorizer.Decision, error) {
			ctx, gone := context.WithTimeout(t.Context(), 1100*time.Millisecond)
			defer gone()
			d, _, err := grants.Authorize(ctx, authorizer.AttributesRecord{Name: name})
			return d, err
		}
		for i := range 2 {
			d, err := patient("slow")
			if d != authorizer.DecisionNoOpinion || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("request %d: %v, %v", i, d, err)
			}
		}
		if d, err := patient("slow"); d != authorizer.DecisionAllow || err != nil || asked.Load() != 1 {
			t.Errorf("after 3 s: %v, %v; the cluster was asked %d times, want once", d, err, asked.Load())
		}
		takes = time.Hour
		var requests sync.WaitGroup
		for i := range 2000 {
			requests.Go(func() { _, _ = patient(strconv.Itoa(i)) }) //nolint:errcheck // No one answers.
		}
		requests.Wait()
		synctest.Wait()
		if n := now.Load(); n != 1024 {
			t.Errorf("%d reviews go on, want 1024", n)
		}
		time.Sleep(10 * time.Second)
		if n := now.Load(); n != 0 {
			t.Errorf("%d reviews go on after ten seconds more", n)
		}
	})
}

// Of thousands of grants that are due at once, a few are renewed at the same time.
func TestFewGrantsAreRenewedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		grants := apiserver.CachedGrants(authorizer.AuthorizerFunc(
			func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				time.Sleep(time.Millisecond)
				return authorizer.DecisionAllow, "", nil
			}), time.Minute, time.Second)
		all := func() {
			for i := range 1000 {
				request := authorizer.AttributesRecord{Name: strconv.Itoa(i)}
				if d, _, err := grants.Authorize(t.Context(), request); d != authorizer.DecisionAllow || err != nil {
					t.Fatalf("%v, %v", d, err)
				}
			}
		}
		all()
		time.Sleep(50 * time.Second)
		all()
		time.Sleep(time.Second)
		if n := most.Load(); n != 16 {
			t.Errorf("%d reviews at once, want 16", n)
		}
	})
}
