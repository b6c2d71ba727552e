// Package manifest resolves a Forecast object into a Target of the refresh loop: it sets defaults, validates every
// field, renders the query and confines it to its namespace.
//
// Objects come from two places: sub-package folder reads YAML files, package forecasts watches the Kubernetes API.
// Both use the same Resolver. It finds all problems of an object at once, each with the field's path and what to
// write instead. An object with problems becomes an invalid Target; it does not stop the others.
package manifest
