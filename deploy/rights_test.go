package deploy_test

import (
	"testing"

	authorization "k8s.io/api/authorization/v1"

	"github.com/forewarm/forewarm/hack/testcluster"
)

func testRights(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	type ask = authorization.ResourceAttributes
	for _, q := range []struct {
		ask  ask
		want bool
	}{
		{ask{Verb: "list", Group: "forewarm.dev", Resource: "forecasts"}, true},
		{ask{Verb: "update", Group: "forewarm.dev", Resource: "forecasts", Subresource: "status"}, true},
		{ask{Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}, true},
		{ask{Verb: "update", Group: "forewarm.dev", Resource: "forecasts"}, false},
		{ask{Verb: "create", Group: "forewarm.dev", Resource: "forecasts"}, false},
		{ask{Verb: "delete", Group: "forewarm.dev", Resource: "forecasts"}, false},
		{ask{Verb: "get", Resource: "secrets", Namespace: "forewarm-system"}, false},
		{ask{Verb: "get", Resource: "configmaps", Namespace: "kube-system"}, false},
		{ask{Verb: "list", Resource: "pods"}, true},
		{ask{Verb: "watch", Resource: "pods"}, true},
		{ask{Verb: "get", Resource: "pods", Subresource: "log", Namespace: "inference"}, false},
		{ask{Verb: "create", Resource: "pods", Namespace: "inference"}, false},
		{ask{Verb: "create", Resource: "pods", Subresource: "exec", Namespace: "inference"}, false},
		{ask{Verb: "delete", Resource: "pods", Namespace: "inference"}, false},
		{ask{Verb: "get", Group: "apps", Resource: "deployments", Subresource: "scale"}, true},
		{ask{Verb: "get", Group: "leaderworkerset.x-k8s.io", Resource: "leaderworkersets", Subresource: "scale"}, true},
		{ask{Verb: "update", Group: "apps", Resource: "deployments", Subresource: "scale"}, false},
		{ask{Verb: "watch", Group: "apiregistration.k8s.io", Resource: "apiservices"}, true},
		{ask{Verb: "watch", Group: "autoscaling", Resource: "horizontalpodautoscalers"}, true},
		{ask{Verb: "list", Group: "keda.sh", Resource: "scaledobjects"}, true},
		{ask{Verb: "update", Group: "autoscaling", Resource: "horizontalpodautoscalers", Namespace: "inference"}, false},
		{ask{Verb: "patch", Group: "keda.sh", Resource: "scaledobjects", Namespace: "inference"}, false},
		{ask{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "scale"}, false},
		{ask{Verb: "get", Group: "apps", Resource: "deployments"}, false},
		{ask{Verb: "list", Resource: "nodes"}, false},
		{ask{Verb: "update", Group: "apiregistration.k8s.io", Resource: "apiservices"}, false},
		{ask{Verb: "create", Resource: "events", Namespace: "forewarm-system"}, true},
		{ask{Verb: "create", Resource: "events", Namespace: "inference"}, true},
		{ask{Verb: "list", Resource: "events", Namespace: "inference"}, false},
		{lease("update", "forewarm-system", "forewarm"), true},
		{lease("update", "forewarm-system", "other"), false},
		{lease("delete", "forewarm-system", "forewarm"), false},
		{lease("create", "inference", "forewarm"), false},
	} {
		if got := may(t, c, account, q.ask); got != q.want {
			t.Errorf("the account may %+v: %v", q.ask, got)
		}
	}
}

func lease(verb, namespace, name string) authorization.ResourceAttributes {
	return authorization.ResourceAttributes{
		Verb: verb, Group: "coordination.k8s.io", Resource: "leases", Namespace: namespace, Name: name,
	}
}
