// Package gpu is what the node agent reads of a node's GPUs: plain values, in shares of what a device can do, whatever
// library they came from. A driver or a device that does not answer is part of a reading, never a reason to stop.
package gpu
