//go:build race

package main

// underRace says that the race detector runs.
const underRace = true
