// Package nvml reads a node's NVIDIA GPUs by the driver's own library, NVML, and changes nothing: no call here sets
// anything. It needs cgo; without it the package is empty.
//
// What the library does to a process that is not careful, and what is done about it:
//
//   - A function that an older driver lacks ends the process when it is called. Those that came later are looked up first.
//   - GetSamples fills its answer up with samples of time 0, and every buffer now and then holds a value that cannot be.
//     Both are dropped (see ratio).
//   - The driver goes away while it is replaced, and a device can fall off the bus. Neither is an error here: the reading says
//     so, the other devices are read, and the library is opened anew with a growing pause until all answer.
package nvml
