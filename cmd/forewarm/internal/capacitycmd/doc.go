// Package capacitycmd is the command that tells what one replica of a service sustains, from how the service came to its limit
// before: the number that people must write as their autoscaler's target. It advises and changes nothing.
package capacitycmd
