// Package gpu has the readings of a node's GPUs as plain values, in shares of what a device can do, whatever library
// they come from, and windows that summarise them. A driver or a device that does not answer is part of a reading, not an
// error. The package is pure; time is an argument.
package gpu
