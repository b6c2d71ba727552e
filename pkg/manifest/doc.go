// Package manifest reads objects, from files and from a cluster. It resolves a Forecast into a Target of the refresh loop: it sets
// defaults, validates every field, renders the query, confines it to its namespace, and chooses the autoscalers that its objective
// is calibrated for. It resolves a WarmPool into the planner's input. Sub-package autoscaler reads HPAs and ScaledObjects.
//
// Files are read strictly: a field that does not exist, is given twice or has the wrong kind is a problem with its line. A Folder
// reads the Forecasts of YAML files; package forecasts watches the Kubernetes API. Both use the same Resolver. It finds all
// problems of an object at once, each with the field's path and what to write instead. An object with problems becomes an invalid
// Target; it does not stop the others.
package manifest
