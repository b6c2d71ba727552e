package apiserver

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/snapshot"
)

// Deps are what a server needs of the rest of the program.
type Deps struct {
	// Board is where the snapshots to serve hang.
	Board *snapshot.Board
	// Metrics are served on /metrics, beside those of the API server itself.
	Metrics prometheus.Gatherer
	// Logger tells of the server's start, stop and faults.
	Logger *slog.Logger
	// Ready are the checks of /readyz, beside the API server's own.
	Ready []Check
	// Now is the clock by which the age of data is judged.
	Now func() time.Time
	// Handle are further paths, by path, served behind the same authorization; for example the demo's workload.
	Handle map[string]http.Handler
}

// Check says whether one part of the program can serve; the error says why not. It must return at once. What it says is
// public: anybody may read /readyz.
type Check struct {
	Name string
	Run  func() error
}

// SnapshotCheck holds once the refresh loop has published its first snapshot: ready means that data exists.
func SnapshotCheck(board *snapshot.Board) Check {
	return Check{Name: "snapshot", Run: func() error {
		if board.Load() == nil {
			return errors.New("no snapshot yet: the first refresh is under way")
		}
		return nil
	}}
}
