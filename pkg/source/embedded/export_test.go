package embedded

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/storage"
)

// WithReserve is the configuration with another space to be kept free.
func (c Config) WithReserve(bytes int64) Config {
	c.reserve = bytes
	return c
}

// Appender is what scrapes write to.
//
//nolint:ireturn // As the storage's own.
func (e *Engine) Appender(ctx context.Context) storage.AppenderV2 { return e.store.AppenderV2(ctx) }

// Reopen does at once what Run does every few seconds.
func (e *Engine) Reopen() { e.store.reopen() }

// KeepUp does at once what Run does every minute.
func (e *Engine) KeepUp() { e.store.writeChunks() }

// Dir is the directory of the storage.
func (e *Engine) Dir() string { return e.cfg.Dir }

// Oldest is the time of the oldest sample in memory.
func (e *Engine) Oldest() time.Time {
	_, oldest := e.store.headState()
	return time.UnixMilli(oldest)
}
