// Package progress tells on stderr how far long work is: on a terminal as a bar that is drawn over, elsewhere as a line
// now and then, so that a log stays short; quietly not at all.
//
//	bar := progress.New(os.Stderr, quiet, time.Now)
//	bar.Begin("holt-winters", 56)
//	for range 56 {
//		…
//		bar.Add(1)
//	}
//	bar.End()
//
// It is our own, and small: the libraries for bars draw from goroutines and by a clock of their own, which no test can
// hold still, and none of them knows when to write lines instead.
package progress
