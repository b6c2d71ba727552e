// Command failed reads the events of go test and prints what go test prints. At the end it repeats the failures: the
// messages of each failed test, without those that are only logged, and how many tests passed, failed and were skipped.
// Its exit code is 1 where anything failed. Run it from the root of the repository:
//
//	go test -json ./... | go run ./hack/failed [-v]
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	verbose := flag.Bool("v", false, "print what go test -v prints")
	flag.Parse()
	// After an interrupt it still reports the failures so far: it ends with the events.
	signal.Ignore(os.Interrupt)
	r := newReport(os.Stdout, ".", *verbose)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Println(lines.Text()) // A line that is no event is a message of the go command.
			continue
		}
		r.record(e)
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "read the events of go test:", err)
		os.Exit(1)
	}
	if r.close() > 0 {
		os.Exit(1)
	}
}
