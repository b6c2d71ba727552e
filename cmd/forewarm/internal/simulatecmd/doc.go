// Package simulatecmd is the command "simulate": it replays a user's history to the user's autoscaler, with Forewarm
// and with other policies, and reports cost and lateness of each.
package simulatecmd
