package refresh

import (
	"context"
	"log/slog"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// tell logs what has changed since the snapshot before: a demand is a suspect; another candidate serves an objective, or it is
// met or missed. What a changed object changes about an objective is no news.
func tell(ctx context.Context, log *slog.Logger, before, after *snapshot.Snapshot) {
	if before == nil {
		return
	}
	for _, key := range after.Keys() {
		was, is := before.Get(key), after.Get(key)
		tellSuspect(ctx, log, was, is)
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

func tellSuspect(ctx context.Context, log *slog.Logger, was, is *snapshot.Entry) {
	words, suspect := is.Suspect()
	if !suspect {
		return
	}
	if was != nil {
		if _, already := was.Suspect(); already {
			return
		}
	}
	log.WarnContext(
		ctx,
		"a demand is a suspect",
		"forecast",
		is.Key.String(),
		"reason",
		snapshot.ReasonSuspect,
		"now",
		words,
	)
}
