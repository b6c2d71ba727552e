package doctor

import (
	"cmp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forewarm/forewarm/pkg/kube/client"
)

// Level is how bad a finding is.
type Level string

// The levels, the worst first.
const (
	// Error: something does not work.
	Error Level = "error"
	// Warning: it works, but it does harm or will fail later.
	Warning Level = "warning"
	// Unknown: it could not be checked.
	Unknown Level = "unknown"
	// Skipped: it was not checked, because the check was not requested or there is nothing to check.
	Skipped Level = "skipped"
	// OK: it is as it should be.
	OK Level = "ok"
)

// Levels lists all levels, the worst first.
func Levels() []Level { return []Level{Error, Warning, Unknown, Skipped, OK} }

// Finding is the result of one check on one object.
type Finding struct {
	// Check names the check, for scripts.
	Check string `json:"check"`
	Level Level  `json:"level"`
	// Object that it is about; empty where it is about the whole cluster.
	Object string `json:"object,omitempty"`
	// Message is the problem with its numbers; Remedy is what to do. Neither ends with a full stop.
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// Report is all findings, the worst first.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Count returns how many findings have a level.
func (r Report) Count(level Level) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Level == level {
			n++
		}
	}
	return n
}

// sort orders the findings by their level; those of a level stay in the order of the checks.
func (r Report) sort() {
	rank := func(f Finding) int { return slices.Index(Levels(), f.Level) }
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(rank(a), rank(b)) })
}

// ask is what to do about a right that the caller lacks.
const ask = "ask for this permission, or let an administrator run forewarm doctor"

// unread is the finding for something that could not be read.
func unread(check, what string, err error) Finding {
	f := Finding{Check: check, Level: Unknown, Message: "cannot read " + what + ": " + client.APIMessage(err)}
	switch {
	case apierrors.IsForbidden(err):
		f.Message, f.Remedy = "you are not allowed to read "+what+": "+client.APIMessage(err), ask
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsTooManyRequests(err):
		f.Remedy = "try again, or set a longer --timeout"
	}
	return f
}
