//go:build race

package embedded_test

// underRace says that the race detector runs.
const underRace = true
