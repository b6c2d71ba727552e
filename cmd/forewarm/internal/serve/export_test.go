package serve

// StatementOf is what a replica with these options says about itself.
var StatementOf = statement
