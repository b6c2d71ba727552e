// Package doctor finds what is wrong with a Forewarm in a cluster, and what to do about it. It only reads, with the rights of
// its caller. What the caller may not read is a finding of its own, never silence.
package doctor
