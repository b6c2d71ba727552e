// Package inspect turns the newest snapshot into the inspection API inspect.forewarm.dev/v1alpha1: an Outlook for each
// Forecast as a table row, as JSON, as an SVG plot and as an HTML page.
//
// A page behind "kubectl proxy" shares its origin with the whole Kubernetes API, so that a script in it would have the
// user's rights in the cluster. Pages and plots have no script and no outside resource, escape every string, and make
// the browser enforce it (Content-Security-Policy with sandbox).
package inspect
