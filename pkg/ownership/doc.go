// Package ownership watches to whom the API groups of a cluster lead. A group like external.metrics.k8s.io has one owner
// in a cluster, the server behind its APIService; KEDA's chart takes that one, and whoever applies another manifest takes
// it from its owner without a word. Forewarm takes none: it says who holds them, in every Forecast's status, and where
// one changes hands, in an event and the log.
package ownership
