package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
)

// Append adds the samples to a storage of Prometheus in the order of their times.
func Append(tb testing.TB, appender func(context.Context) storage.Appender, all []Series) {
	tb.Helper()
	type row struct {
		labels labels.Labels
		sample Sample
	}
	var rows []row
	for _, s := range all {
		own := labels.FromMap(s.Labels)
		for _, sample := range s.Samples {
			rows = append(rows, row{own, sample})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return int(a.sample.At - b.sample.At) })
	const commit = 5000
	for batch := range slices.Chunk(rows, commit) {
		app := appender(tb.Context())
		for _, r := range batch {
			if _, err := app.Append(0, r.labels, r.sample.At, r.sample.Value); err != nil {
				tb.Fatal(err)
			}
		}
		if err := app.Commit(); err != nil {
			tb.Fatal(err)
		}
	}
}

// StartThanosStore runs a store gateway on a folder as its bucket, with one block of the samples and the label replica.
func StartThanosStore(tb testing.TB, replica string, all []Series) *Thanos {
	tb.Helper()
	blocks, bucket := tb.TempDir(), fmt.Sprintf("{type: FILESYSTEM, config: {directory: %q}}", tb.TempDir())
	const longest = 60 * 24 * time.Hour
	w, err := tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), blocks, longest.Milliseconds())
	if err != nil {
		tb.Fatal(err)
	}
	Append(tb, w.Appender, all)
	if _, err = w.Flush(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if err = w.Close(); err != nil {
		tb.Fatal(err)
	}
	upload := exec.CommandContext(tb.Context(), binary(tb, "thanos"), "tools", "bucket", "upload-blocks",
		"--path="+blocks, fmt.Sprintf("--label=replica=%q", replica), "--objstore.config="+bucket)
	if text, err := upload.CombinedOutput(); err != nil {
		tb.Fatalf("upload a block: %v\n%s", err, text)
	}
	return startThanos(tb, "store", "--objstore.config="+bucket, "--data-dir="+filepath.Join(tb.TempDir(), "data"))
}
