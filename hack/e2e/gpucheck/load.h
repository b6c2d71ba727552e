#include <stddef.h>
#include <stdint.h>

// prepare opens the first GPU, allocates two buffers and compiles a kernel, if one is named. compute runs it, move copies one buffer
// into the other; both wait. They return what failed, or NULL.
const char *prepare(const char *ptx, const char *name, size_t bytes);
const char *compute(uint32_t rounds);
const char *move(size_t bytes);
