package serve

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// maxGrants is how many decisions are kept, some 400 bytes each. The oldest gives way: with fewer than there are HPAs none would be found.
const maxGrants = 32_768

// grants keeps what the cluster decided on a user's request, for the times that the options give the library's cache, which it
// replaces: that finds a decision by the JSON of its review, a tenth of a request's CPU time. Selectors are not part of what is
// decided (withoutSelectors).
type grants struct {
	next        authorizer.Authorizer
	allow, deny time.Duration
	decided     *cache.LRUExpireCache
}

// decision is one of the cluster's.
type decision struct {
	authorizer.Decision

	reason string
}

// cachedGrants returns an authorizer that asks the next one. (A function, because embedding would leave an authorizer's other
// methods uncached.)
func cachedGrants(next authorizer.Authorizer, allow, deny time.Duration) authorizer.Authorizer {
	g := &grants{next: next, allow: allow, deny: deny, decided: cache.NewLRUExpireCache(maxGrants)}
	return authorizer.AuthorizerFunc(g.authorize)
}

func (g *grants) authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	key := grantKey(a)
	known, _ := g.decided.Get(key)
	if d, ok := known.(decision); ok {
		return d.Decision, d.reason, nil
	}
	d, reason, err := g.next.Authorize(ctx, a)
	switch {
	case err != nil: // The next request asks again.
	case d == authorizer.DecisionAllow:
		g.decided.Add(key, decision{d, reason}, g.allow)
	default:
		g.decided.Add(key, decision{d, reason}, g.deny)
	}
	return d, reason, err
}

// grantKey is everything that a review contains. Each text has its length before it, so that no two requests have the same key.
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
	add(
		strconv.FormatBool(a.IsResourceRequest()),
		a.GetVerb(),
		a.GetPath(),
		a.GetNamespace(),
		a.GetAPIGroup(),
		a.GetAPIVersion(),
		a.GetResource(),
		a.GetSubresource(),
		a.GetName(),
	)
	return string(key)
}
