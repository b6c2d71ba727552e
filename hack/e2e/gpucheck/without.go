//go:build !cgo

// Command gpucheck needs cgo, to call the driver.
package main

import "log"

func main() {
	log.Fatal("gpucheck: no GPU is checked: it was built without cgo, which the driver needs")
}
