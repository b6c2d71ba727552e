// Package collect is the agent's loop: a reading of the GPUs and of who holds them becomes figures of devices and of pods over
// the last seconds, in a picture that whoever is asked shows without asking a GPU.
package collect
