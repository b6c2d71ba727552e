// The driver's API, found at run time: neither CUDA's headers nor its libraries are needed to build.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "load.h"

typedef int (*fn)();

static void *library;

static fn find(const char *name) { return (fn)dlsym(library, name); }

// The calls, in the order of their use. A pointer of the driver is 64 bits wide, a handle is a pointer.
static int (*init)(unsigned);
static int (*device_get)(int *, int);
static int (*attribute)(int *, int, int);
static int (*retain)(void **, int);
static int (*set_current)(void *);
static int (*load)(void **, const void *);
static int (*function)(void **, void *, const char *);
static int (*allocate)(uint64_t *, size_t);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*copy)(uint64_t, uint64_t, size_t);
static int (*synchronize)(void);

static int processors;
static void *kernel;
static uint64_t first, second;

enum { multiprocessors = 16 };

static const char *failed(char *buffer, const char *call, int code) {
	snprintf(buffer, 128, "%s: error %d", call, code);
	return buffer;
}

#define CALL(name, ...)                                                  \
	do {                                                             \
		int code = name(__VA_ARGS__);                            \
		if (code != 0) return failed(message, #name, code);      \
	} while (0)

const char *prepare(const char *ptx, const char *name, size_t bytes) {
	static char message[128];
	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (library == NULL) return dlerror();
	const struct { void *to; const char *name; } calls[] = {
		{&init, "cuInit"}, {&device_get, "cuDeviceGet"}, {&attribute, "cuDeviceGetAttribute"},
		{&retain, "cuDevicePrimaryCtxRetain"}, {&set_current, "cuCtxSetCurrent"}, {&load, "cuModuleLoadData"},
		{&function, "cuModuleGetFunction"}, {&allocate, "cuMemAlloc_v2"}, {&launch, "cuLaunchKernel"},
		{&copy, "cuMemcpyDtoD_v2"}, {&synchronize, "cuCtxSynchronize"},
	};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		*(fn *)calls[i].to = find(calls[i].name);
		if (*(fn *)calls[i].to == NULL) {
			snprintf(message, sizeof message, "libcuda has no %s", calls[i].name);
			return message;
		}
	}
	int device;
	void *context, *module;
	CALL(init, 0);
	CALL(device_get, &device, 0);
	CALL(attribute, &processors, multiprocessors, device);
	CALL(retain, &context, device);
	CALL(set_current, context);
	CALL(allocate, &first, bytes);
	CALL(allocate, &second, bytes);
	if (name != NULL) {
		CALL(load, &module, ptx);
		CALL(function, &kernel, module, name);
	}
	return NULL;
}

const char *compute(uint32_t rounds) {
	static char message[128];
	void *arguments[] = {&first, &rounds};
	CALL(launch, kernel, 4 * processors, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL);
	CALL(synchronize);
	return NULL;
}

const char *move(size_t bytes) {
	static char message[128];
	CALL(copy, second, first, bytes);
	CALL(synchronize);
	return NULL;
}
