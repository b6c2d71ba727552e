// Package presetscmd is the command that lists the demand signals that forewarm knows, says what each is for and what its
// server lacks, and prints the PromQL of one for a workload. It asks no server.
package presetscmd
