// Package folder reads Forecast objects from the YAML and JSON files of a folder, for running without a cluster, and
// reloads them when they change.
//
// It reads *.yaml, *.yml and *.json in the order of their names. Sub-folders and names that begin with a dot are
// skipped. Changes are found by content, through symbolic links, so that updates of a mounted ConfigMap are noticed
// like edits.
//
// Files with errors:
//
//   - An object that has a name and problems becomes an invalid target at once, as in a cluster.
//   - While a file, or a document in it, cannot be read (a syntax error or no name, for example of a file that is half
//     written), the objects that it had before and does not name now stay as they were. Removing the file removes them.
//     A document of another kind, such as an HPA beside its Forecast, is a problem, but the others are read.
//   - An object that is defined twice is not served; the problem names both places.
package folder
