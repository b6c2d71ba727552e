// Package strict reads YAML and JSON as people write them, beside the Go type that a document is to become: every field that
// does not exist, is given twice or is of the wrong kind is a problem with its line, and all of them are found at once.
package strict
