package doctor

// Write is write, for its test.
var Write = write
