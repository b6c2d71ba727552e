package refresh

import (
	"context"
	"log/slog"

	"github.com/forewarm/forewarm/pkg/snapshot"
)

// tell logs what has changed about the objectives since the snapshot before: another shape serves, or an objective is met
// or missed. What a changed object changes is no news.
func tell(ctx context.Context, log *slog.Logger, before, after *snapshot.Snapshot) {
	if before == nil {
		return
	}
	for _, key := range after.Keys() {
		was, is := before.Get(key), after.Get(key)
		if was == nil || was.Outcome == nil || is.Outcome == nil || was.Generation != is.Generation {
			continue
		}
		for _, c := range is.Outcome.Changes(was.Outcome.Stand()) {
			level := slog.LevelInfo
			if c.Missed {
				level = slog.LevelWarn
			}
			log.Log(ctx, level, "an objective fares otherwise",
				"forecast", key.String(), "reason", c.Reason, "now", c.Words)
		}
	}
}
