// Package explaincmd is the command "explain": what a HorizontalPodAutoscaler computes and why, from a cluster or a
// file.
package explaincmd
