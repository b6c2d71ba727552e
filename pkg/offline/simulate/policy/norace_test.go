//go:build !race

package policy_test

// underRace says that the race detector runs.
const underRace = false
