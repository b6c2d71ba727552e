package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchforecast:", err)
		os.Exit(1)
	}
}

// run runs one command line. Rows go to out as they are ready, progress to words.
func run(args []string, out, words io.Writer) error {
	o, err := parse(args, os.Getenv("FOREWARM_DATA"))
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	var rows printer = &tables{out: out}
	if o.asJSON {
		rows = lines{out: out}
	}
	if err := scoreM4(o, rows, words); err != nil {
		return err
	}
	if err := scoreTraces(o, rows, words); err != nil {
		return err
	}
	if o.asJSON || !o.speed {
		return nil
	}
	return scoreSpeed(o, rows, words)
}
