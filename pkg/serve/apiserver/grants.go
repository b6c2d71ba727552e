package apiserver

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forewarm/forewarm/pkg/run"
)

// maxGrants is how many decisions are kept, about 400 bytes each. The oldest one is replaced. If there are more HPAs than decisions, no
// decision would be found.
const maxGrants = 32_768

// A review runs in its own goroutine for at most reviewTimeout, and continues if its request ends first. A client that gives up and tries again
// then finds the decision, even if the kube-apiserver is slower than the client's timeout. If more than maxReviews run at the same time, a
// review ends with its request, so that clients that disconnect cannot leave more reviews behind.
const (
	reviewTimeout = 10 * time.Second
	maxReviews    = 1024
)

// A grant is renewed in the background when renewedAfter of its lifetime is over, so that no request waits for a foreseeable review. If
// thousands of grants expire at the same time, at most renewals of them are reviewed concurrently.
const (
	renewedAfter = 0.75
	renewals     = 16
)

// grants caches the cluster's decisions about the requests of users, for the durations that the options set for the library's cache. It
// replaces the library's cache, which finds a decision by the JSON of its review and takes a tenth of a request's CPU time. Selectors are
// not part of a decision (see withoutSelectors).
type grants struct {
	next        authorizer.Authorizer
	allow, deny time.Duration
	decided     *cache.LRUExpireCache
	// reviews has the running reviews, each shared by all requests that need it. reviewing and renewing limit how many run at the same time.
	reviews             singleflight.Group
	reviewing, renewing chan struct{}
}

// decision is a decision of the cluster.
type decision struct {
	authorizer.Decision

	reason string
	// err says why there is no decision. A decision with an error is not cached.
	err error
	// renew is when the decision is requested again, or zero if it just expires. renewed is true after that.
	renew   time.Time
	renewed atomic.Bool
}

// cachedGrants returns an authorizer that uses the next one. (It is a function, because embedding would leave the other methods of the
// authorizer uncached.)
func cachedGrants(next authorizer.Authorizer, allow, deny time.Duration) authorizer.Authorizer {
	g := &grants{
		next: next, allow: allow, deny: deny, decided: cache.NewLRUExpireCache(maxGrants),
		reviewing: make(chan struct{}, maxReviews), renewing: make(chan struct{}, renewals),
	}
	return authorizer.AuthorizerFunc(g.authorize)
}

func (g *grants) authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	key := grantKey(a)
	known, _ := g.decided.Get(key)
	d, ok := known.(*decision)
	switch {
	case !ok:
		d = g.decide(ctx, key, a)
	case !d.renew.IsZero() && run.WallClock{}.Now().After(d.renew):
		g.renew(ctx, d, key, a)
	}
	return d.Decision, d.reason, d.err
}

// decide waits for the cluster's decision, at most until the request ends.
func (g *grants) decide(ctx context.Context, key string, a authorizer.Attributes) *decision {
	select {
	case g.reviewing <- struct{}{}:
	default:
		return g.ask(ctx, key, a)
	}
	select {
	case d := <-g.reviewInBackground(ctx, key, a, g.reviewing):
		return d
	case <-ctx.Done():
		return &decision{Decision: authorizer.DecisionNoOpinion, err: ctx.Err()}
	}
}

// renew requests a decision again, once.
func (g *grants) renew(ctx context.Context, d *decision, key string, a authorizer.Attributes) {
	select {
	case g.renewing <- struct{}{}:
	default:
		return // The next request tries again.
	}
	if d.renewed.Swap(true) {
		<-g.renewing
		return
	}
	g.reviewInBackground(ctx, key, a, g.renewing)
}

// reviewInBackground starts a review without making the request wait for it. It releases its place among the reviews when there is an
// answer.
func (g *grants) reviewInBackground(
	ctx context.Context, key string, a authorizer.Attributes, places chan struct{},
) <-chan *decision {
	answered := make(chan *decision, 1)
	go func() {
		defer func() { <-places }()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		review := func() (any, error) { return g.ask(within, key, a), nil }
		shared, _, _ := g.reviews.Do(key, review) //nolint:errcheck // The decision has the error.
		if d, ok := shared.(*decision); ok {
			answered <- d
		}
	}()
	return answered
}

// ask requests a decision from the cluster, and caches it.
func (g *grants) ask(ctx context.Context, key string, a authorizer.Attributes) *decision {
	verdict, reason, err := g.next.Authorize(ctx, a)
	d := &decision{Decision: verdict, reason: reason, err: err}
	switch {
	case err != nil: // The next request tries again.
	case verdict == authorizer.DecisionAllow:
		d.renew = run.WallClock{}.Now().Add(time.Duration(renewedAfter * float64(g.allow)))
		g.decided.Add(key, d, g.allow)
	default:
		g.decided.Add(key, d, g.deny)
	}
	return d
}

// grantKey contains everything that is in a review. Each text is preceded by its length, so that no two requests have the same key.
func grantKey(a authorizer.Attributes) string {
	key := make([]byte, 0, 512)
	add := func(texts ...string) {
		key = append(strconv.AppendInt(key, int64(len(texts)), 10), ' ')
		for _, text := range texts {
			key = append(strconv.AppendInt(key, int64(len(text)), 10), ' ')
			key = append(key, text...)
		}
	}
	if user := a.GetUser(); user != nil {
		add(user.GetName(), user.GetUID())
		add(user.GetGroups()...)
		extra := user.GetExtra()
		for _, name := range slices.Sorted(maps.Keys(extra)) {
			add(name)
			add(extra[name]...)
		}
	}
	add(strconv.FormatBool(a.IsResourceRequest()), a.GetVerb(), a.GetPath(), a.GetNamespace(), a.GetAPIGroup(),
		a.GetAPIVersion(), a.GetResource(), a.GetSubresource(), a.GetName())
	return string(key)
}
