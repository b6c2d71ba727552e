// Package progress reports the progress of long work on stderr: as a bar on a terminal, elsewhere as an occasional
// line, so that logs stay short; nothing with --quiet.
//
//	bar := progress.New(os.Stderr, quiet, time.Now)
//	bar.Begin("holt-winters", 56)
//	for range 56 {
//		…
//		bar.Add(1)
//	}
//	bar.End()
//
// Libraries for progress bars draw from goroutines with a clock of their own, which tests cannot control, and do not
// write lines to logs.
package progress
