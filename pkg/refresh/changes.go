package refresh

import (
	"context"
	"log/slog"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// logChanges logs what has changed since the previous snapshot: a demand is suspect; under an objective another
// candidate is selected; the objective is met or missed. Changes of an objective that a changed object causes are not
// logged.
func logChanges(ctx context.Context, log *slog.Logger, before, after *snapshot.Snapshot) {
	if before == nil {
		return
	}
	for _, key := range after.Keys() {
		was, is := before.Get(key), after.Get(key)
		logSuspect(ctx, log, was, is)
		if was == nil || was.Partial || was.Objective == nil || is.Objective == nil || was.Generation != is.Generation {
			continue
		}
		for _, c := range is.Objective.ChangesSince(was.Objective.Selection.Selected, was.Objective.Verdict) {
			level := slog.LevelInfo
			if c.Missed {
				level = slog.LevelWarn
			}
			log.Log(ctx, level, "an objective changed",
				"forecast", key.String(), "reason", c.Reason, "now", c.Message)
		}
	}
}

func logSuspect(ctx context.Context, log *slog.Logger, was, is *snapshot.ForecastState) {
	words, suspect := is.Suspect()
	if !suspect {
		return
	}
	if was != nil {
		if _, already := was.Suspect(); already {
			return
		}
	}
	log.WarnContext(ctx, "a demand is suspect", "forecast", is.Key.String(), "reason", snapshot.ReasonSuspect, "now",
		words)
}
