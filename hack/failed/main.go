// Command failed reads the events of go test and prints what go test prints, and then, as the last thing, once more
// what failed: of each failed test the messages but for those that are only logged, and how many tests passed, failed
// and were skipped. Its exit code is 1 where anything failed. It is run from the root of the repository:
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
	// Whoever interrupts the tests wants to know what had failed until then: the end of the events ends this, too.
	signal.Ignore(os.Interrupt)
	r := newReport(os.Stdout, ".", *verbose)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Println(lines.Text()) // What is no event is what go itself has to say.
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
