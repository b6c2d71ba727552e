package processtest

import (
	"bytes"
	"strings"
	"sync"
)

// LogBuffer is a buffer that goroutines write and read at once. The zero value is empty.
type LogBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer. It never fails.
func (b *LogBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns all that was written.
func (b *LogBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Take returns all that was written, and empties the buffer.
func (b *LogBuffer) Take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.text.Reset()
	return b.text.String()
}

// Count returns how often a text was written.
func (b *LogBuffer) Count(text string) int { return strings.Count(b.String(), text) }

// Lines returns the lines that were written.
func (b *LogBuffer) Lines() []string { return strings.Split(strings.TrimSpace(b.String()), "\n") }
