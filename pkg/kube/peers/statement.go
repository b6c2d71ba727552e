// Package peers lets the adapter replicas compare what their served values depend on: the version, the flags, and the machine's clock.
// Each replica publishes a Statement in an annotation of the leader's Lease, because it has the permission to update this Lease anyway.
// It then reads the Statements of the other replicas.
package peers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/printable"
)

// Annotation of the Lease that has the Statements of all adapter replicas, by their identity, as JSON.
const Annotation = "forewarm.dev/replicas"

// Statement is what an adapter replica says about itself.
type Statement struct {
	// At changes with each publication. It shows that the replica is alive, whatever its clock says.
	At time.Time `json:"at"`
	// Version of the program.
	Version string `json:"version"`
	// Settings are the hashes of those flags that decide values and are not at their defaults.
	Settings map[string]string `json:"settings,omitempty"`
	// Clocks are how far the clocks of the sources are ahead of the replica's, by the source's name.
	Clocks map[string]snapshot.ClockDifference `json:"clocks,omitempty"`
}

// Limits of a Statement. They apply when a replica publishes one, and when it reads one.
const (
	maxReplicas  = 50
	maxNames     = 100
	maxClocks    = 16
	maxText      = 253
	maxClockSpan = 100 * 365 * 24 * time.Hour
)

// Hash is a short hash of the value of a setting. It distinguishes values without revealing them.
func Hash(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:4])
}

// Read returns the Statements in a Lease, by identity. It leaves out what no replica writes.
func Read(lease *coordinationv1.Lease) map[string]Statement {
	var raw map[string]json.RawMessage
	if json.Unmarshal([]byte(lease.Annotations[Annotation]), &raw) != nil {
		raw = nil
	}
	out := make(map[string]Statement, len(raw))
	for _, identity := range slices.Sorted(maps.Keys(raw)) {
		var s Statement
		if json.Unmarshal(raw[identity], &s) == nil && isLine(identity) && s.valid() && len(out) < maxReplicas {
			out[identity] = s
		}
	}
	return out
}

// write replaces the Statements in a Lease.
func write(lease *coordinationv1.Lease, all map[string]Statement) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err //nolint:wrapcheck // The only caller says what it published.
	}
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	lease.Annotations[Annotation] = string(text)
	return nil
}

// limited keeps only the clocks of the first sources by name. All adapter replicas therefore publish the same sources.
func (s Statement) limited() Statement {
	clocks := map[string]snapshot.ClockDifference{}
	for _, source := range slices.Sorted(maps.Keys(s.Clocks)) {
		if len(clocks) < maxClocks {
			clocks[source] = s.Clocks[source]
		}
	}
	s.Clocks = clocks
	return s
}

func (s Statement) valid() bool {
	for name, hash := range s.Settings {
		if !isLine(name) || !isLine(hash) {
			return false
		}
	}
	for source, c := range s.Clocks {
		if len(source) > maxText || c.Min > c.Max || c.Min < -maxClockSpan || c.Max > maxClockSpan {
			return false
		}
	}
	return isLine(s.Version) && len(s.Settings) <= maxNames && len(s.Clocks) <= maxClocks
}

// isLine reports whether a text can be part of a message.
func isLine(text string) bool {
	return text != "" && len(text) <= maxText && printable.Line(text) == text
}
