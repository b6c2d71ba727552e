// Package folder reads Forecast objects from the YAML and JSON files of a folder, for running without a cluster, and
// follows their changes.
//
// The files are *.yaml, *.yml and *.json, read in the order of their names; sub-folders and names that begin with a dot
// are left out. Reading goes by content, through symbolic links, so that a mounted ConfigMap, whose links are swapped
// behind the names, is followed like a file that is edited.
//
// What happens to a file with faults follows from what is known:
//   - An object that can be named but has problems becomes an invalid target at once, as it would in a cluster: its
//     author's newest word is not something else.
//   - While a file cannot be read, or holds a document that cannot be (a syntax error, no name: half written, perhaps), the
//     objects that it held before and does not hold now stay as they were. Removing the file removes them. A document of
//     another kind, an HPA beside its Forecast, is a problem but hides nothing.
//   - An object that stands in two places is served from neither; the problem names both.
package folder
