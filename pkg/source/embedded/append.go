package embedded

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
)

// Append adds a sample to a series, for demand that is not scraped. The labels are as in BackfillSeries. NaN ends the series until
// its next sample, as a failed scrape does. As scrapes, it adds nothing and returns nil while StorageError is not nil.
func (e *Engine) Append(ctx context.Context, series map[string]string, at time.Time, v float64) error {
	if math.IsNaN(v) {
		v = math.Float64frombits(value.StaleNaN)
	}
	to := e.store.AppenderV2(ctx)
	none := storage.AppendV2Options{}
	if _, err := to.Append(0, labels.FromMap(series), 0, at.UnixMilli(), v, nil, nil, none); err != nil {
		return errors.Join(fmt.Errorf("embedded engine: append: %w", err), to.Rollback())
	}
	return to.Commit() //nolint:wrapcheck // The store logs it.
}
