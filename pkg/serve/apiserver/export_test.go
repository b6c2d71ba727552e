package apiserver

// PlainQuery refuses queries that the API's handlers would misread.
var PlainQuery = plainQuery

// NewFrontProxy and WithProxyProof authenticate the kube-apiserver.
var (
	NewFrontProxy  = newFrontProxy
	WithProxyProof = withProxyProof
)

// CachedGrants keeps decisions.
var CachedGrants = cachedGrants
