package refresh

import (
	"runtime/debug"
	"time"
)

const (
	// dayRefit is the time between two forecasts of the next day, watchedRefit the same while somebody has looked at it within
	// watchedFor.
	dayRefit, watchedRefit = 6 * time.Hour, 2 * time.Hour
	watchedFor             = 24 * time.Hour
)

// forecastDay forecasts the next day of a Forecast where that is due. No step waits for it.
func (l *Loop) forecastDay(w *worker, now time.Time) {
	after := dayRefit
	if w.day.LookedSince(now.Add(-watchedFor)) {
		after = watchedRefit
	}
	if w.forecaster == nil || now.Sub(w.dayMade).Abs() < after { // The clock may have been set back.
		return
	}
	w.dayMade = now
	key, hours, day := w.target.Key, w.forecaster.Hours(), w.day
	l.days.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				l.log.Error("a forecast of the next day panicked: please report this", "forecast", key.String(),
					"fault", fault, "stack", string(debug.Stack()))
			}
		}()
		l.fits.run(key.Namespace, true, func() { day.Set(hours.NextDay()) })
	})
}
