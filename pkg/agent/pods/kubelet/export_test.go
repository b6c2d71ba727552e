package kubelet

// Read is read without a kubelet.
var Read = read
