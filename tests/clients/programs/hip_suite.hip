// hip_suite.hip: a HIP program that uses what ordinary HIP programs use, and checks it.
//
// Prints one line per part: "NAME ok" or "NAME FAILED: why". Exit status 1 if any part
// failed. Knows nothing of the emulator; runs on a real gfx1100 as well.
// SPDX-License-Identifier: MIT
#include <hip/hip_runtime.h>

#include <hip/hip_cooperative_groups.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static std::string why;

#define CHECK(cond)                                                                    \
    do {                                                                               \
        if (!(cond)) {                                                                 \
            why = std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " #cond;   \
            return false;                                                              \
        }                                                                              \
    } while (0)
#define HIP(call)                                                                      \
    do {                                                                               \
        hipError_t e_ = (call);                                                        \
        if (e_ != hipSuccess) {                                                        \
            why = std::string(#call ": ") + hipGetErrorString(e_);                     \
            return false;                                                              \
        }                                                                              \
    } while (0)

__global__ void iota(int *out, int n, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i * step;
}

__global__ void add_one(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}

__global__ void reduce(const int *in, int *out, int n)
{
    __shared__ int part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}

__global__ void atomics(int *counters, unsigned long long *wide, float *sum)
{
    atomicAdd(&counters[threadIdx.x % 4], 1);
    atomicMax(&counters[4], (int)(blockIdx.x * blockDim.x + threadIdx.x));
    atomicAdd(wide, 1ull << 20);
    atomicAdd(sum, 0.5f);
    atomicCAS(&counters[5], 0, 77);
}

__global__ void say(int base)
{
    printf("lane %d says %s %.2f\n", base + (int)threadIdx.x, "hello", 1.5);
}

/* place[0]: it has begun; [1]: it may end. Both are the host's memory. */
__global__ void wait_for(int *place)
{
    __hip_atomic_store(&place[0], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (!__hip_atomic_load(&place[1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
        __builtin_amdgcn_s_sleep(1);
}

/* The same, and what the clock shows before and behind. */
__global__ void wait_and_tell(int *place, long long *times)
{
    times[0] = wall_clock64();
    __hip_atomic_store(&place[0], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (!__hip_atomic_load(&place[1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
        __builtin_amdgcn_s_sleep(1);
    times[1] = wall_clock64();
}

__global__ void let_go(int *place)
{
    __hip_atomic_store(&place[1], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__global__ void take_rows(int **rows, int n)
{
    int *row = (int *)malloc(n * sizeof *row);
    for (int i = 0; row && i < n; i++)
        row[i] = (int)threadIdx.x + i;
    rows[threadIdx.x] = row;
}

__global__ void add_rows(int **rows, int *sums, int n)
{
    int *row = rows[threadIdx.x], sum = 0;
    for (int i = 0; row && i < n; i++)
        sum += row[i];
    sums[threadIdx.x] = sum;
    free(row);
}

__global__ void grid_phase(int *data, int *flag, int n)
{
    auto grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = i;
    grid.sync();
    if (i < n && data[n - 1 - i] == n - 1 - i)
        atomicAdd(flag, 1);
}

__global__ void spill(int *out, int n)
{
    int local[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 128; k++)
        local[k] = i * k;
    int sum = 0;
    for (int k = 0; k < 128; k++)
        sum += local[(k * 7 + i) & 127];
    if (i < n)
        out[i] = sum;
}

struct pair {
    float x;
    double y;
};

__global__ void by_value(pair p, double *out)
{
    out[threadIdx.x] = p.x * (float)threadIdx.x + p.y;
}

/* What the kernel driver says of its only GPU. */
static unsigned long long topology(const char *file, const char *wanted)
{
    char path[128], name[64];
    unsigned long long value = 0;
    snprintf(path, sizeof(path), "/sys/class/kfd/kfd/topology/nodes/1/%s", file);
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%63s %llu", name, &value) == 2 && strcmp(name, wanted) != 0)
        value = 0;
    if (f)
        fclose(f);
    return value;
}

static bool device_query()
{
    int count = 0;
    HIP(hipGetDeviceCount(&count));
    CHECK(count == 1);
    hipDeviceProp_t p;
    HIP(hipGetDeviceProperties(&p, 0));
    CHECK(strncmp(p.gcnArchName, "gfx1100", 7) == 0);
    CHECK(p.warpSize == 32 && p.multiProcessorCount == 48);
    CHECK(p.sharedMemPerBlock == 65536 && p.maxThreadsPerBlock == 1024);
    CHECK(p.pciBusID == (int)(topology("properties", "location_id") >> 8));
    size_t free_bytes = 0, total = 0;
    HIP(hipMemGetInfo(&free_bytes, &total));
    CHECK(total == topology("mem_banks/0/properties", "size_in_bytes"));
    CHECK(total > 0 && free_bytes <= total);
    return true;
}

static bool lds_reduction()
{
    const int n = 100000;
    int *in, *out, result = -1;
    HIP(hipMalloc(&in, n * sizeof(int)));
    HIP(hipMalloc(&out, sizeof(int)));
    HIP(hipMemset(out, 0, sizeof(int)));
    iota<<<(n + 255) / 256, 256>>>(in, n, 3);
    reduce<<<(n + 255) / 256, 256>>>(in, out, n);
    HIP(hipMemcpy(&result, out, sizeof(int), hipMemcpyDeviceToHost));
    unsigned want = 0;
    for (int i = 0; i < n; i++)
        want += 3u * (unsigned)i;
    CHECK((unsigned)result == want);
    HIP(hipFree(in));
    HIP(hipFree(out));
    return true;
}

static bool streams_and_events()
{
    const int n = 1 << 16;
    hipStream_t s[2];
    hipEvent_t start, stop, cross;
    int *d[2];
    std::vector<int> h(n);
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&stop));
    HIP(hipEventCreateWithFlags(&cross, hipEventDisableTiming));
    for (int i = 0; i < 2; i++) {
        HIP(hipStreamCreate(&s[i]));
        HIP(hipMalloc(&d[i], n * sizeof(int)));
    }
    HIP(hipEventRecord(start, s[0]));
    iota<<<n / 256, 256, 0, s[0]>>>(d[0], n, 2);
    HIP(hipEventRecord(cross, s[0]));
    HIP(hipStreamWaitEvent(s[1], cross, 0));
    HIP(hipMemcpyAsync(d[1], d[0], n * sizeof(int), hipMemcpyDeviceToDevice, s[1]));
    add_one<<<n / 256, 256, 0, s[1]>>>(d[1], n);
    HIP(hipMemcpyAsync(h.data(), d[1], n * sizeof(int), hipMemcpyDeviceToHost, s[1]));
    HIP(hipStreamSynchronize(s[1]));
    HIP(hipEventRecord(stop, s[0]));
    HIP(hipEventSynchronize(stop));
    float ms = -1;
    HIP(hipEventElapsedTime(&ms, start, stop));
    CHECK(ms > 0 && ms < 60000);
    for (int i = 0; i < n; i++)
        CHECK(h[i] == 2 * i + 1);
    for (int i = 0; i < 2; i++) {
        HIP(hipStreamDestroy(s[i]));
        HIP(hipFree(d[i]));
    }
    HIP(hipEventDestroy(start));
    HIP(hipEventDestroy(stop));
    HIP(hipEventDestroy(cross));
    return true;
}

// What an event pair says of one kernel; printed, since only a timing model knows it.
static bool event_time()
{
    const int n = 1 << 14;
    hipEvent_t start, stop;
    int *d;
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&stop));
    HIP(hipMalloc(&d, n * sizeof(int)));
    spill<<<n / 256, 256>>>(d, n); // whatever is set up with the first one
    HIP(hipDeviceSynchronize());
    float us[2];
    for (int i = 0; i < 2; i++) {
        HIP(hipEventRecord(start, 0));
        for (int k = 0; k <= i; k++)
            spill<<<n / 256, 256>>>(d, n);
        HIP(hipEventRecord(stop, 0));
        HIP(hipEventSynchronize(stop));
        HIP(hipEventElapsedTime(&us[i], start, stop));
        us[i] *= 1000;
        CHECK(us[i] > 0);
    }
    printf("one kernel %.2f us, two %.2f us\n", us[0], us[1]);
    HIP(hipFree(d));
    HIP(hipEventDestroy(start));
    HIP(hipEventDestroy(stop));
    return true;
}

static bool copies_2d()
{
    const size_t w = 100, h = 37, host_pitch = 128;
    std::vector<unsigned char> a(host_pitch * h, 0xee), b(host_pitch * h, 0x11);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            a[y * host_pitch + x] = (unsigned char)(x * 3 + y);
    void *d;
    size_t pitch = 0;
    HIP(hipMallocPitch(&d, &pitch, w, h));
    CHECK(pitch >= w);
    HIP(hipMemcpy2D(d, pitch, a.data(), host_pitch, w, h, hipMemcpyHostToDevice));
    HIP(hipMemcpy2D(b.data(), host_pitch, d, pitch, w, h, hipMemcpyDeviceToHost));
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < host_pitch; x++)
            CHECK(b[y * host_pitch + x] == (x < w ? (unsigned char)(x * 3 + y) : 0x11));
    HIP(hipFree(d));
    return true;
}

static bool large_copies()
{
    const size_t n = 8 << 20;
    std::vector<unsigned> a(n), b(n);
    for (size_t i = 0; i < n; i++)
        a[i] = (unsigned)(i * 2654435761u);
    void *d, *e;
    HIP(hipMalloc(&d, n * 4));
    HIP(hipMalloc(&e, n * 4));
    HIP(hipMemcpy(d, a.data(), n * 4, hipMemcpyHostToDevice));
    HIP(hipMemcpy(e, d, n * 4, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy(b.data(), e, n * 4, hipMemcpyDeviceToHost));
    CHECK(memcmp(a.data(), b.data(), n * 4) == 0);
    HIP(hipMemset(d, 0x5a, 1000003));
    HIP(hipMemcpy(b.data(), d, n * 4, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < 1000003; i++)
        CHECK(((unsigned char *)b.data())[i] == 0x5a);
    CHECK(memcmp((char *)b.data() + 1000003, (char *)a.data() + 1000003,
                 n * 4 - 1000003) == 0);
    HIP(hipFree(d));
    HIP(hipFree(e));
    return true;
}

static bool atomic_operations()
{
    struct {
        int counters[8];
        unsigned long long wide;
        float sum;
    } h = {}, *d;
    HIP(hipMalloc((void **)&d, sizeof(h)));
    HIP(hipMemcpy(d, &h, sizeof(h), hipMemcpyHostToDevice));
    atomics<<<10, 128>>>(d->counters, &d->wide, &d->sum);
    HIP(hipMemcpy(&h, d, sizeof(h), hipMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++)
        CHECK(h.counters[i] == 320);
    CHECK(h.counters[4] == 1279 && h.counters[5] == 77);
    CHECK(h.wide == 1280ull << 20);
    CHECK(h.sum == 640.0f);
    HIP(hipFree(d));
    return true;
}

static bool device_printf()
{
    fflush(stdout);
    say<<<1, 3>>>(10);
    HIP(hipDeviceSynchronize());
    return true;
}

/* A kernel that waits for one of another stream, which is submitted when it runs. */
static bool stream_awaits_stream()
{
    hipStream_t waits, goes;
    int *place;
    HIP(hipStreamCreateWithFlags(&waits, hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&goes, hipStreamNonBlocking));
    HIP(hipHostMalloc(&place, 2 * sizeof *place, hipHostMallocCoherent));
    place[0] = place[1] = 0;
    wait_for<<<1, 1, 0, waits>>>(place);
    while (!__atomic_load_n(&place[0], __ATOMIC_ACQUIRE))
        CHECK(hipStreamQuery(waits) == hipErrorNotReady);
    let_go<<<1, 1, 0, goes>>>(place);
    HIP(hipStreamSynchronize(waits));
    HIP(hipStreamSynchronize(goes));
    HIP(hipHostFree(place));
    HIP(hipStreamDestroy(waits));
    HIP(hipStreamDestroy(goes));
    return true;
}

/* A kernel that waits while the host sleeps has seen that time pass: 50 ms, by a clock
 * that may be adjusted by 0.1 %. */
static bool wall_clock()
{
    int *place, rate;
    long long *times;
    HIP(hipDeviceGetAttribute(&rate, hipDeviceAttributeWallClockRate, 0));
    HIP(hipHostMalloc(&place, 2 * sizeof *place, hipHostMallocCoherent));
    HIP(hipHostMalloc(&times, 2 * sizeof *times));
    place[0] = place[1] = 0;
    times[0] = times[1] = 0;
    wait_and_tell<<<1, 1>>>(place, times);
    while (!__atomic_load_n(&place[0], __ATOMIC_ACQUIRE))
        CHECK(hipStreamQuery(0) == hipErrorNotReady);
    usleep(50000);
    __atomic_store_n(&place[1], 1, __ATOMIC_RELEASE);
    HIP(hipDeviceSynchronize());
    CHECK(times[1] - times[0] >= 50ll * rate / 1000 * 999);
    HIP(hipHostFree(place));
    HIP(hipHostFree(times));
    return true;
}

/* Several waves ask the host at once: who asked last is told by one place for all. */
static bool printf_of_waves()
{
    fflush(stdout);
    say<<<1, 96>>>(100);
    HIP(hipDeviceSynchronize());
    return true;
}

/* malloc in kernels: the waves share the runtime's heap. */
static bool device_heap()
{
    int **rows, *sums;
    HIP(hipMalloc(&rows, 128 * sizeof *rows));
    HIP(hipMalloc(&sums, 128 * sizeof *sums));
    take_rows<<<1, 128>>>(rows, 20);
    add_rows<<<1, 128>>>(rows, sums, 20);
    std::vector<int> got(128);
    HIP(hipMemcpy(got.data(), sums, 128 * sizeof *sums, hipMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++)
        CHECK(got[i] == 20 * i + 190);
    HIP(hipFree(rows));
    HIP(hipFree(sums));
    return true;
}

static bool managed_memory()
{
    const int n = 5000;
    int *m;
    HIP(hipMallocManaged((void **)&m, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        m[i] = i;
    add_one<<<(n + 63) / 64, 64>>>(m, n);
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(m[i] == i + 1);
    HIP(hipFree(m));
    return true;
}

static bool pinned_memory()
{
    const int n = 3000;
    int *p, *dp;
    HIP(hipHostMalloc((void **)&p, n * sizeof(int), hipHostMallocMapped));
    HIP(hipHostGetDevicePointer((void **)&dp, p, 0));
    iota<<<(n + 63) / 64, 64>>>(dp, n, 5);
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(p[i] == 5 * i);
    HIP(hipHostFree(p));
    std::vector<int> v(n, 1);
    HIP(hipHostRegister(v.data(), n * sizeof(int), hipHostRegisterDefault));
    HIP(hipHostGetDevicePointer((void **)&dp, v.data(), 0));
    add_one<<<(n + 63) / 64, 64>>>(dp, n);
    HIP(hipDeviceSynchronize());
    HIP(hipHostUnregister(v.data()));
    for (int i = 0; i < n; i++)
        CHECK(v[i] == 2);
    return true;
}

static bool cooperative()
{
    int n = 2048, *data, *flag, h = -1;
    HIP(hipMalloc(&data, n * sizeof(int)));
    HIP(hipMalloc(&flag, sizeof(int)));
    HIP(hipMemset(flag, 0, sizeof(int)));
    void *args[] = {&data, &flag, &n};
    HIP(hipLaunchCooperativeKernel((void *)grid_phase, dim3(16), dim3(128), args, 0, 0));
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(&h, flag, sizeof(int), hipMemcpyDeviceToHost));
    CHECK(h == n);
    HIP(hipFree(data));
    HIP(hipFree(flag));
    return true;
}

static bool graphs()
{
    const int n = 4096;
    hipStream_t s;
    hipGraph_t g;
    hipGraphExec_t x;
    int *d;
    std::vector<int> h(n);
    HIP(hipStreamCreate(&s));
    HIP(hipMalloc(&d, n * sizeof(int)));
    HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
    iota<<<n / 64, 64, 0, s>>>(d, n, 1);
    for (int i = 0; i < 5; i++)
        add_one<<<n / 64, 64, 0, s>>>(d, n);
    HIP(hipMemcpyAsync(h.data(), d, n * sizeof(int), hipMemcpyDeviceToHost, s));
    HIP(hipStreamEndCapture(s, &g));
    HIP(hipGraphInstantiate(&x, g, NULL, NULL, 0));
    for (int run = 0; run < 3; run++) {
        std::fill(h.begin(), h.end(), -1);
        HIP(hipGraphLaunch(x, s));
        HIP(hipStreamSynchronize(s));
        for (int i = 0; i < n; i++)
            CHECK(h[i] == i + 5);
    }
    HIP(hipGraphExecDestroy(x));
    HIP(hipGraphDestroy(g));
    HIP(hipStreamDestroy(s));
    HIP(hipFree(d));
    return true;
}

static bool scratch()
{
    const int n = 1000;
    int *d;
    std::vector<int> h(n);
    HIP(hipMalloc(&d, n * sizeof(int)));
    spill<<<(n + 63) / 64, 64>>>(d, n);
    HIP(hipMemcpy(h.data(), d, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int k = 0; k < 128; k++)
            sum += i * ((k * 7 + i) & 127);
        CHECK(h[i] == sum);
    }
    HIP(hipFree(d));
    return true;
}

static bool arguments()
{
    double *d, h[32];
    HIP(hipMalloc(&d, sizeof(h)));
    by_value<<<1, 32>>>(pair{2.5f, 0.125}, d);
    HIP(hipMemcpy(h, d, sizeof(h), hipMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        CHECK(h[i] == 2.5f * (float)i + 0.125);
    HIP(hipFree(d));
    return true;
}

static bool error_codes()
{
    void *p;
    CHECK(hipMalloc(&p, 1ull << 45) == hipErrorOutOfMemory);
    CHECK(hipSetDevice(7) == hipErrorInvalidDevice);
    CHECK(hipMemcpy(NULL, NULL, 16, hipMemcpyHostToDevice) != hipSuccess);
    iota<<<1, 4096>>>(NULL, 0, 0);
    CHECK(hipGetLastError() != hipSuccess);
    CHECK(hipGetLastError() == hipSuccess);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*run)();
    } parts[] = {
        {"device_query", device_query},
        {"lds_reduction", lds_reduction},
        {"streams_and_events", streams_and_events},
        {"event_time", event_time},
        {"copies_2d", copies_2d},
        {"large_copies", large_copies},
        {"atomic_operations", atomic_operations},
        {"device_printf", device_printf},
        {"stream_awaits_stream", stream_awaits_stream},
        {"wall_clock", wall_clock},
        {"printf_of_waves", printf_of_waves},
        {"device_heap", device_heap},
        {"managed_memory", managed_memory},
        {"pinned_memory", pinned_memory},
        {"cooperative", cooperative},
        {"graphs", graphs},
        {"scratch", scratch},
        {"arguments", arguments},
        {"error_codes", error_codes},
    };
    int failed = 0;
    for (const auto &part : parts) {
        if (argc > 1 && strcmp(argv[1], part.name) != 0)
            continue;
        bool ok = part.run();
        failed += !ok;
        if (ok)
            printf("%s ok\n", part.name);
        else
            printf("%s FAILED: %s\n", part.name, why.c_str());
        fflush(stdout);
    }
    return failed != 0;
}
