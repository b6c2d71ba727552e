// Package apiservertest starts a real etcd and a real kube-apiserver for a test, with forewarm's
// CustomResourceDefinitions and an aggregator that vouches for its users. It has no nodes and no controllers: objects
// stay as they are written.
package apiservertest
