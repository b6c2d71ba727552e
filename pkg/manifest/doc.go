// Package manifest turns a Forecast object, as a user wrote it, into the refresh loop's Target: defaults filled in,
// everything validated, the query rendered and confined to its namespace.
//
// It is one way for both places where objects live: sub-package folder reads YAML files, sub-package cluster watches the
// Kubernetes API, and both resolve with the same Resolver. Every problem of an object is found at once, each with the
// field's path and what to write instead; an object with problems becomes a Target that says so and never stops the
// others.
package manifest
