// Package nvml reads a node's NVIDIA GPUs through the driver's own library, NVML. It changes nothing: no call here sets
// anything. It needs cgo; without cgo the package is empty.
//
// The library has four traps:
//
//   - A call of a function that an older driver lacks crashes the process. Newer functions are looked up first.
//   - GetSamples pads its answer with samples of time 0, and buffers sometimes hold impossible values. Both are dropped
//     (see ratio).
//   - The driver disappears while it is replaced, and a device can fall off the bus. Neither is an error here: it is
//     part of the reading, the other devices are read, and the library is reopened with a growing backoff until all
//     devices answer.
//   - NVIDIA's Go bindings trust the numbers that the driver returns, and panic if a buffer has become too small between two
//     calls. Each call is protected, so that a panic costs one value of one reading (see protect).
package nvml
