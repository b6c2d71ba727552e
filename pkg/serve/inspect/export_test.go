package inspect

// RenderFleet is the page of a fleet.
var RenderFleet = renderFleet
