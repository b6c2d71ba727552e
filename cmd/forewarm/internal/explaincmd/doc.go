// Package explaincmd is the command that says why a HorizontalPodAutoscaler does what it does, from a cluster or from a
// file.
package explaincmd
