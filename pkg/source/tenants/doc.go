// Package tenants sends each query to the source that its namespace was granted.
//
// An operator lists sources in a file: the URL, the credentials, the label that confines queries, and the namespaces
// that may use the source. A Forecast names a source of its namespace, or gets the first one that the file grants it.
// The file is read again when it changes. If a new version has an error, the grants stay as they were.
//
// Each source has a client of its own, so that two tenants whose queries are equal share no answer. A query is refused
// if its namespace has no grant, both when it is sent and when the answer has come.
package tenants
