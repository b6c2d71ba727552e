// Package leadtime turns the start-ups of a workload's pods into the time ahead that a forecast must reach.
//
// What goes in is what the Kubernetes API says of pods, as often as it says it; Firsts picks out of that the starts, each
// once. What comes out is a Record: how long the starts took, in two histograms that forget exponentially, and the lead
// time that is in use. A Record is a few dozen numbers, so that a Forecast's status can hold it.
//
// The lead time is the 0.9 quantile of all starts, those that found a node and those that waited for one together: the
// share of starts that wait for a node is a fact about this cluster, too. Where one start in five waits for a node the
// quantile is a start that waited; where spare nodes make that one in fifty, the quantile is a start that did not, and the
// window shortens by itself. Every pod counts alike, so a large rise, which is what runs out of nodes, weighs as much as it
// has pods.
//
// The two kinds are counted apart, and have lead times of their own: Parts. A Forecast for which a warm pool stands ready
// uses that of starts on nodes that were there. The pool itself is sized by both: the window of a pod by the one, that of a
// node and a pod by the other.
//
// Starts that found a node while a warm pool held some are a kind of their own, and no part of the quantile of all: that is
// the lead time without the pool, and it must still be known when the pool has worked for months and then, its budget
// spent, holds nothing.
//
// A lead time does not follow its quantile at once. It rests until the quantile has left it by a tenth, and is announced a
// minute before its use; both are in the Record, so that all replicas that have read it agree.
package leadtime
