// Package pool reads a WarmPool, from a file or as a cluster stores it, fills in its defaults and judges it: what comes out
// is what the planner is asked, and an object that an actuator can work from. It is as strict about the pod of a chunk as
// about the rest, because the API server is not: a resource that is written wrongly there would hold nothing.
package pool
