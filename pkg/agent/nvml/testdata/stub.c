// A library with NVML's interface and no GPU behind it, for the tests to load as the driver's: eight devices that are busy 80 % of
// the time, with two processes each. With -DOLD it has only what a driver of 2018 had; to call the rest ends the process. With -DGROWS
// the buffer of the call that STUB_GROWS names grows between the question for its size and the question for its content.
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "nvml.h"

enum { devices = 8, ring = 120 };

static int lost = -1; // the device that fell off the bus

// NVIDIA's bindings have handles as structs.
static long index_of(nvmlDevice_t d) { return (long)d.handle - 1; }

static nvmlReturn_t state(nvmlDevice_t d) { return index_of(d) == lost ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS; }

static unsigned long long now(void) {
    struct timeval t;
    gettimeofday(&t, NULL);
    return (unsigned long long)t.tv_sec * 1000000 + t.tv_usec;
}

static int grows(const char *call) {
#ifdef GROWS
    const char *which = getenv("STUB_GROWS");
    return which && !strcmp(which, call);
#else
    (void)call;
    return 0;
#endif
}

nvmlReturn_t nvmlInit_v2(void) {
    const char *which = getenv("STUB_LOST"), *unloaded = getenv("STUB_UNLOADED");
    lost = which && *which ? atoi(which) : -1;
    return unloaded && *unloaded ? NVML_ERROR_DRIVER_NOT_LOADED : NVML_SUCCESS;
}
nvmlReturn_t nvmlShutdown(void) { return NVML_SUCCESS; }
const char *nvmlErrorString(nvmlReturn_t r) { return r == NVML_ERROR_GPU_IS_LOST ? "GPU is lost" : "some error"; }
nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    snprintf(version, length, "580.95.05");
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) { *count = devices; return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *d) {
    d->handle = (void *)(long)(index + 1);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char *uuid, unsigned int length) {
    snprintf(uuid, length, "GPU-%08lx-0000-4000-8000-000000000000", index_of(d));
    return state(d);
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char *name, unsigned int length) {
    snprintf(name, length, "NVIDIA H100 80GB HBM3");
    return state(d);
}
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t d, unsigned int *minor) { *minor = index_of(d); return state(d); }
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t d, nvmlMemory_t *m) {
    m->total = 80ULL << 30, m->used = 61ULL << 30, m->free = 19ULL << 30;
    return state(d);
}

nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t d, nvmlSamplingType_t type, unsigned long long since,
                                  nvmlValueType_t *unit, unsigned int *count, nvmlSample_t *out) {
    *unit = NVML_VALUE_TYPE_UNSIGNED_INT;
    if (!out) {
        *count = ring;
        return state(d);
    }
    if (grows("samples")) {
        *count = ring + 1;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    unsigned int n = 0;
    for (unsigned long long i = 0, t = now() / 166667 * 166667; i < *count; i++) {
        unsigned long long at = t - (*count - 1 - i) * 166667;
        if (at > since) {
            out[n].timeStamp = at;
            out[n++].sampleValue.uiVal = type == NVML_GPU_UTILIZATION_SAMPLES ? 80 : 40;
        }
    }
    *count = n;
    return n ? state(d) : NVML_ERROR_NOT_FOUND;
}

#ifdef OLD
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t d, unsigned int *count, nvmlProcessInfo_v1_t *out) {
    if (*count < 1)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    *count = 1, out[0].pid = 1000 + index_of(d), out[0].usedGpuMemory = 1 << 30;
    return state(d);
}
#else
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t d, nvmlMemory_v2_t *m) {
    if (m->version != nvmlMemory_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    m->total = 80ULL << 30, m->used = 60ULL << 30, m->reserved = 1ULL << 30;
    return state(d);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t d, unsigned int *count, nvmlProcessInfo_t *out) {
    if (grows("list") && *count) { /* a driver that says how many there are, whatever the buffer holds */
        *count = 5;
        return NVML_SUCCESS;
    }
    if (grows("empty list") && *count) { /* too small, although there is none: go-nvml's next buffer has no first element */
        *count = 0;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    unsigned int n = grows("longer list") && *count < 8 ? *count + 1 : 2; /* a process starts before each of the first answers */
    if (*count < n) {
        *count = n;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    *count = 2;
    for (int i = 0; i < 2; i++)
        out[i].pid = 1000 + 2 * index_of(d) + i, out[i].usedGpuMemory = 1 << 30;
    return state(d);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t d, unsigned int *count, nvmlProcessInfo_t *out) {
    (void)out;
    *count = grows("MPS list") ? 3 : 0;
    return state(d);
}
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t d, nvmlProcessUtilizationSample_t *out, unsigned int *count,
                                             unsigned long long since) {
    (void)since;
    if (out && grows("use")) { /* a process began since the first call: there are more samples than the buffer has room for */
        *count = 3;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    if (!out || *count < 2) {
        *count = 2;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    *count = 2;
    for (int i = 0; i < 2; i++) {
        memset(&out[i], 0, sizeof out[i]);
        out[i].pid = 1000 + 2 * index_of(d) + i, out[i].timeStamp = now();
        out[i].smUtil = 60 - 40 * i, out[i].memUtil = 30 - 20 * i;
    }
    return state(d);
}
nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t d, nvmlGpmSupport_t *s) { s->isSupportedDevice = 1; return state(d); }
nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *s) { s->handle = malloc(1 << 12); return NVML_SUCCESS; }
nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t s) { free(s.handle); return NVML_SUCCESS; }
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t d, nvmlGpmSample_t s) { *(unsigned long long *)s.handle = now(); return state(d); }
nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t d, unsigned int id, nvmlGpmSample_t s) { (void)id; return nvmlGpmSampleGet(d, s); }
nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *get) {
    if (get->version != NVML_GPM_METRICS_GET_VERSION)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (*(unsigned long long *)get->sample2.handle <= *(unsigned long long *)get->sample1.handle)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned int i = 0; i < get->numMetrics; i++)
        get->metrics[i].value = get->metrics[i].metricId, get->metrics[i].nvmlReturn = NVML_SUCCESS;
    return NVML_SUCCESS;
}
#endif
