package apiservertest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	audit "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy logs the requests of service accounts, after the response.
const auditPolicy = `{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
	{"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
	{"level": "None"}]}`

// Audit returns every request of a service account so far.
func (c *Cluster) Audit(tb testing.TB) []audit.Event {
	tb.Helper()
	text, err := os.ReadFile(c.audit)
	if err != nil {
		tb.Fatal(err)
	}
	// The last line may be incomplete.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	var out []audit.Event
	for line := range bytes.Lines(text) {
		var event audit.Event
		if err := json.Unmarshal(line, &event); err != nil {
			tb.Fatalf("audit log: %v in %s", err, line)
		}
		out = append(out, event)
	}
	return out
}
