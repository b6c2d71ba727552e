// Package capacitycmd is the command "capacity": it estimates what one replica of a service sustains from past
// overloads, which is the autoscaler's target. It changes nothing.
package capacitycmd
