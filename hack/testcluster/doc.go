// Package testcluster starts a real etcd and a real kube-apiserver for a test, with forewarm's CustomResourceDefinitions
// installed and an aggregator that vouches for its users. There are no nodes and no controllers: what is written stays as
// it is written.
package testcluster
