package serve

// PlainQuery refuses queries that the API's handlers would misread.
var PlainQuery = plainQuery
