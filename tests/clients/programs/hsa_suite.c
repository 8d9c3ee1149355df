/* hsa_suite.c: a HSA program against the stock runtime: queues, packets, signals,
 * copies, scratch, faults.
 *
 * usage: hsa_suite CODE32 CODE64 [PART]   one part, or all but "fault" and "held"
 * Prints "PART ok" or "PART FAILED: why"; exit status 1 after a failure. Knows nothing
 * of the emulator. SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(cond)                                                                    \
    do {                                                                               \
        if (!(cond)) {                                                                 \
            snprintf(why, sizeof(why), "line %d: %s", __LINE__, #cond);                \
            return false;                                                              \
        }                                                                              \
    } while (0)
#define HSA(call) CHECK((call) == HSA_STATUS_SUCCESS)

static char why[256];
static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t vram, host_memory;
static hsa_queue_t *queue;
static hsa_executable_t code[2]; /* wave32, wave64 */

static hsa_status_t find_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU)
        gpu = agent;
    else if (type == HSA_DEVICE_TYPE_CPU)
        cpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    uint32_t flags;
    bool allowed;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                 &allowed);
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !allowed)
        return HSA_STATUS_SUCCESS;
    hsa_amd_memory_pool_t *out = data;
    bool fine = flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    if (!out->handle && fine == (out == &host_memory))
        *out = pool;
    return HSA_STATUS_SUCCESS;
}

static bool load(const char *path, hsa_executable_t *out)
{
    hsa_code_object_reader_t reader;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    HSA(hsa_code_object_reader_create_from_file(fd, &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_FULL,
                                  HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, out));
    HSA(hsa_executable_load_agent_code_object(*out, gpu, reader, NULL, NULL));
    HSA(hsa_executable_freeze(*out, NULL));
    close(fd);
    return true;
}

static bool start(const char *code32, const char *code64)
{
    HSA(hsa_init());
    HSA(hsa_iterate_agents(find_agent, NULL));
    CHECK(gpu.handle && cpu.handle);
    HSA(hsa_amd_agent_iterate_memory_pools(gpu, find_pool, &vram));
    HSA(hsa_amd_agent_iterate_memory_pools(cpu, find_pool, &host_memory));
    CHECK(vram.handle && host_memory.handle);
    HSA(hsa_queue_create(gpu, 256, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                         UINT32_MAX, &queue));
    return load(code32, &code[0]) && load(code64, &code[1]);
}

static bool host_alloc(size_t bytes, void *out)
{
    void *p;
    HSA(hsa_amd_memory_pool_allocate(host_memory, bytes, 0, &p));
    HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, p));
    memset(p, 0, bytes);
    *(void **)out = p;
    return true;
}

static bool vram_alloc(size_t bytes, void *out)
{
    void *p;
    HSA(hsa_amd_memory_pool_allocate(vram, bytes, 0, &p));
    *(void **)out = p;
    return true;
}

/* Put 64 bytes into the next slot, the header last, and ring. */
static void submit(hsa_queue_t *q, const void *packet)
{
    uint64_t index = hsa_queue_add_write_index_screlease(q, 1);
    while (index - hsa_queue_load_read_index_scacquire(q) >= q->size)
        ;
    uint32_t *slot = (uint32_t *)q->base_address + (index % q->size) * 16;
    memcpy(slot + 1, (const uint32_t *)packet + 1, 60);
    __atomic_store_n(slot, *(const uint32_t *)packet, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)index);
}

static const uint16_t fences =
    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;

static bool dispatch(hsa_queue_t *q, hsa_executable_t exe, const char *name,
                     void *kernarg, uint32_t grid, uint16_t block, hsa_signal_t done)
{
    hsa_executable_symbol_t symbol;
    hsa_kernel_dispatch_packet_t p = {
        .header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | fences |
                  1 << HSA_PACKET_HEADER_BARRIER,
        .setup = 1,
        .workgroup_size_x = block,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = grid,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernarg_address = kernarg,
        .completion_signal = done,
    };
    HSA(hsa_executable_get_symbol_by_name(exe, name, &gpu, &symbol));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                       &p.kernel_object));
    HSA(hsa_executable_symbol_get_info(
        symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
        &p.private_segment_size));
    HSA(hsa_executable_symbol_get_info(
        symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
        &p.group_segment_size));
    submit(q, &p);
    return true;
}

static bool wait_zero(hsa_signal_t s)
{
    hsa_signal_value_t v = hsa_signal_wait_scacquire(
        s, HSA_SIGNAL_CONDITION_LT, 1, UINT64_C(20000000000), HSA_WAIT_STATE_BLOCKED);
    CHECK(v == 0);
    return true;
}

/* ---- parts ---- */

static bool part_dispatch(void)
{
    enum { N = 1000 };
    struct {
        uint32_t *out, *in;
        uint32_t factor;
    } *args;
    hsa_signal_t done;
    if (!host_alloc(sizeof(*args), &args) || !host_alloc(4 * 1024, &args->out) ||
        !host_alloc(4 * 1024, &args->in))
        return false;
    HSA(hsa_signal_create(1, 0, NULL, &done));
    for (unsigned mode = 0; mode < 2; mode++) {
        args->factor = 3 + mode;
        for (uint32_t i = 0; i < N; i++)
            args->in[i] = i * 7;
        hsa_signal_store_relaxed(done, 1);
        if (!dispatch(queue, code[mode], "scale.kd", args, N, 128, done) ||
            !wait_zero(done))
            return false;
        for (uint32_t i = 0; i < N; i++)
            CHECK(args->out[i] == i * 7 * args->factor + 1);
        CHECK(args->out[N] == 0); /* the last workgroup is partial */
    }
    return true;
}

static bool part_wave_width(void)
{
    struct {
        uint32_t *out;
    } *args;
    hsa_signal_t done;
    if (!host_alloc(sizeof(*args), &args) || !host_alloc(4096, &args->out))
        return false;
    for (unsigned mode = 0; mode < 2; mode++) {
        HSA(hsa_signal_create(1, 0, NULL, &done));
        if (!dispatch(queue, code[mode], "wave_width.kd", args, 128, 64, done) ||
            !wait_zero(done))
            return false;
        for (unsigned i = 0; i < 128; i++)
            CHECK(args->out[i] == (mode ? 64 : 32));
        HSA(hsa_signal_destroy(done));
    }
    return true;
}

static void barrier(hsa_queue_t *q, uint16_t type, hsa_signal_t a, hsa_signal_t b,
                    hsa_signal_t done)
{
    hsa_barrier_and_packet_t p = {
        .header = (uint16_t)(type << HSA_PACKET_HEADER_TYPE | fences |
                             1 << HSA_PACKET_HEADER_BARRIER),
        .dep_signal = {a, b},
        .completion_signal = done,
    };
    submit(q, &p);
}

static bool part_barriers(void)
{
    hsa_signal_t a, b, both, either;
    HSA(hsa_signal_create(1, 0, NULL, &a));
    HSA(hsa_signal_create(1, 0, NULL, &b));
    HSA(hsa_signal_create(1, 0, NULL, &both));
    HSA(hsa_signal_create(1, 0, NULL, &either));
    barrier(queue, HSA_PACKET_TYPE_BARRIER_OR, a, b, either);
    barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, a, b, both);
    usleep(20000);
    CHECK(hsa_signal_load_scacquire(either) == 1);
    hsa_signal_store_screlease(b, 0);
    if (!wait_zero(either))
        return false;
    usleep(20000);
    CHECK(hsa_signal_load_scacquire(both) == 1);
    hsa_signal_store_screlease(a, 0);
    return wait_zero(both);
}

/* Two queues: one waits for a kernel of the other. */
static bool part_queues(void)
{
    struct {
        uint32_t *counter;
    } *args;
    hsa_queue_t *other;
    hsa_signal_t first, last;
    if (!host_alloc(sizeof(*args), &args) || !host_alloc(4, &args->counter))
        return false;
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
                         UINT32_MAX, &other));
    HSA(hsa_signal_create(1, 0, NULL, &first));
    HSA(hsa_signal_create(1, 0, NULL, &last));
    hsa_signal_t none = {0};
    barrier(other, HSA_PACKET_TYPE_BARRIER_AND, first, none, none);
    for (int i = 0; i < 500; i++) /* more than fit: the ring wraps */
        if (!dispatch(other, code[0], "increment.kd", args, 64, 64,
                      i == 499 ? last : none))
            return false;
        else if (i == 0)
            CHECK(dispatch(queue, code[0], "increment.kd", args, 64, 64, first));
    if (!wait_zero(last))
        return false;
    CHECK(*args->counter == 501);
    HSA(hsa_queue_destroy(other));
    return true;
}

static bool part_interrupt_wait(void)
{
    struct {
        uint32_t *flag;
    } *args;
    hsa_signal_t done;
    if (!host_alloc(sizeof(*args), &args) || !host_alloc(4, &args->flag))
        return false;
    HSA(hsa_signal_create(1, 0, NULL, &done));
    CHECK(dispatch(queue, code[0], "forever.kd", args, 32, 32, done));
    hsa_signal_value_t v = hsa_signal_wait_scacquire(
        done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_C(100000000), HSA_WAIT_STATE_BLOCKED);
    CHECK(v == 1); /* timed out: the kernel spins */
    __atomic_store_n(args->flag, 1, __ATOMIC_RELEASE);
    return wait_zero(done);
}

static bool part_copies(void)
{
    const size_t bytes = 3 * 1024 * 1024 + 12345;
    uint8_t *host, *back, *device, *second;
    hsa_signal_t done;
    hsa_agent_t both[2] = {gpu, cpu};
    if (!host_alloc(bytes, &host) || !host_alloc(bytes, &back) ||
        !vram_alloc(bytes, &device) || !vram_alloc(bytes, &second))
        return false;
    (void)both;
    for (size_t i = 0; i < bytes; i++)
        host[i] = (uint8_t)(i * 13 + (i >> 11));
    HSA(hsa_signal_create(1, 0, NULL, &done));
    HSA(hsa_amd_memory_async_copy(device, gpu, host, cpu, bytes, 0, NULL, done));
    if (!wait_zero(done))
        return false;
    hsa_signal_store_relaxed(done, 1);
    HSA(hsa_amd_memory_async_copy(second, gpu, device, gpu, bytes, 0, NULL, done));
    if (!wait_zero(done))
        return false;
    hsa_signal_store_relaxed(done, 1);
    HSA(hsa_amd_memory_async_copy(back, cpu, second, gpu, bytes, 0, NULL, done));
    if (!wait_zero(done))
        return false;
    CHECK(memcmp(host, back, bytes) == 0);
    return true;
}

static bool part_fill(void)
{
    uint32_t *device, *back;
    hsa_signal_t done;
    if (!vram_alloc(40000, &device) || !host_alloc(40000, &back))
        return false;
    HSA(hsa_amd_memory_fill(device, 0xdeadbeef, 9000));
    HSA(hsa_signal_create(1, 0, NULL, &done));
    HSA(hsa_amd_memory_async_copy(back, cpu, device, gpu, 36000, 0, NULL, done));
    if (!wait_zero(done))
        return false;
    for (unsigned i = 0; i < 9000; i++)
        CHECK(back[i] == 0xdeadbeef);
    return true;
}

static bool part_scratch(void)
{
    enum { N = 512 };
    struct {
        uint32_t *out;
        uint32_t n;
    } *args;
    hsa_signal_t done;
    if (!host_alloc(sizeof(*args), &args) || !host_alloc(4 * N, &args->out))
        return false;
    args->n = 50;
    for (unsigned mode = 0; mode < 2; mode++) {
        memset(args->out, 0, 4 * N);
        HSA(hsa_signal_create(1, 0, NULL, &done));
        if (!dispatch(queue, code[mode], "scratch.kd", args, N, 64, done) ||
            !wait_zero(done))
            return false;
        for (uint32_t i = 0; i < N; i++) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < 50; k++)
                sum += i * 64 + ((k * 5 + i) & 63);
            CHECK(args->out[i] == sum);
        }
    }
    return true;
}

static bool part_profile(void)
{
    struct {
        uint32_t *counter;
    } *args;
    hsa_signal_t done;
    hsa_amd_profiling_dispatch_time_t t;
    if (!host_alloc(sizeof(*args), &args) || !host_alloc(4, &args->counter))
        return false;
    HSA(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    HSA(hsa_signal_create(1, 0, NULL, &done));
    if (!dispatch(queue, code[0], "increment.kd", args, 64, 64, done) ||
        !wait_zero(done))
        return false;
    HSA(hsa_amd_profiling_get_dispatch_time(gpu, done, &t));
    CHECK(t.start > 0 && t.end >= t.start);
    printf("profile: %llu ns\n", (unsigned long long)(t.end - t.start));
    return true;
}

/* CPU and GPU count in one word: no step of either is lost. */
static bool part_shared_counter(void)
{
    enum { LANES = 64, STEPS = 4096 };
    struct {
        uint32_t *word;
        uint32_t n;
    } *args;
    uint32_t mine = 0;
    hsa_signal_t done;
    if (!host_alloc(sizeof(*args), &args) || !host_alloc(4, &args->word))
        return false;
    *args->word = 0;
    args->n = STEPS;
    HSA(hsa_signal_create(1, 0, NULL, &done));
    CHECK(dispatch(queue, code[0], "count.kd", args, LANES, LANES, done));
    for (; hsa_signal_load_scacquire(done) == 1; mine++)
        (void)__atomic_fetch_add(args->word, 1, __ATOMIC_RELAXED);
    CHECK(mine > 0 && *args->word == LANES * STEPS + mine);
    return true;
}

/* A kernel that never ends stops neither other queues nor the end of its own. */
static bool part_endless(void)
{
    struct {
        uint32_t *word;
    } *forever, *increment;
    hsa_queue_t *other;
    hsa_signal_t done, never;
    if (!host_alloc(sizeof(*forever), &forever) ||
        !host_alloc(sizeof(*increment), &increment) || !host_alloc(4, &forever->word) ||
        !host_alloc(4, &increment->word))
        return false;
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
                         UINT32_MAX, &other));
    HSA(hsa_signal_create(1, 0, NULL, &done));
    HSA(hsa_signal_create(1, 0, NULL, &never));
    CHECK(dispatch(other, code[0], "forever.kd", forever, 4096, 64, never));
    usleep(50000);
    CHECK(dispatch(queue, code[0], "increment.kd", increment, 64, 64, done));
    if (!wait_zero(done))
        return false;
    CHECK(*increment->word == 1 && hsa_signal_load_scacquire(never) == 1);
    HSA(hsa_queue_destroy(other));
    return true;
}

/* More queues than the hardware holds at once (HQDs): each has its turn. */
static bool part_many_queues(void)
{
    enum { QUEUES = 40, ROUNDS = 8 };
    struct {
        uint32_t *word;
    } *args[QUEUES];
    hsa_queue_t *queues[QUEUES];
    hsa_signal_t done[QUEUES];
    for (int i = 0; i < QUEUES; i++) {
        if (!host_alloc(sizeof(*args[i]), &args[i]) || !host_alloc(4, &args[i]->word))
            return false;
        *args[i]->word = 0;
        HSA(hsa_signal_create(ROUNDS, 0, NULL, &done[i]));
        HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
                             UINT32_MAX, &queues[i]));
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < QUEUES; i++)
            CHECK(
                dispatch(queues[i], code[0], "increment.kd", args[i], 64, 64, done[i]));
    for (int i = 0; i < QUEUES; i++) {
        if (!wait_zero(done[i]))
            return false;
        CHECK(*args[i]->word == ROUNDS);
        HSA(hsa_queue_destroy(queues[i]));
    }
    return true;
}

/* A process for others to kill: says "held" when a kernel of its runs, and waits. */
static bool part_held(void)
{
    struct {
        uint32_t *word;
    } *forever;
    hsa_signal_t never;
    if (!host_alloc(sizeof(*forever), &forever) || !host_alloc(4, &forever->word))
        return false;
    HSA(hsa_signal_create(1, 0, NULL, &never));
    CHECK(dispatch(queue, code[0], "forever.kd", forever, 4096, 64, never));
    for (int i = 0; i < 10; i++) {
        usleep(50000);
        CHECK(hsa_signal_load_scacquire(never) == 1);
    }
    printf("held\n");
    fflush(stdout);
    for (;;)
        pause();
}

static volatile uint64_t fault_address;

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data)
{
    (void)data;
    if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT)
        return HSA_STATUS_ERROR;
    fault_address = event->memory_fault.virtual_address;
    printf("fault at page %#llx, reason %#x\n", (unsigned long long)fault_address,
           event->memory_fault.fault_reason_mask);
    return HSA_STATUS_SUCCESS;
}

static bool part_fault(void)
{
    struct {
        uint32_t *counter;
    } *args;
    hsa_signal_t done;
    if (!host_alloc(sizeof(*args), &args))
        return false;
    HSA(hsa_amd_register_system_event_handler(on_event, NULL));
    args->counter = (uint32_t *)0x123456789000;
    HSA(hsa_signal_create(1, 0, NULL, &done));
    CHECK(dispatch(queue, code[0], "increment.kd", args, 64, 64, done));
    for (int i = 0; i < 500 && !fault_address; i++)
        usleep(10000);
    CHECK(fault_address == 0x123456789000);
    CHECK(hsa_signal_load_scacquire(done) == 1);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*run)(void);
    } parts[] = {
        {"dispatch", part_dispatch},
        {"wave_width", part_wave_width},
        {"barriers", part_barriers},
        {"queues", part_queues},
        {"interrupt_wait", part_interrupt_wait},
        {"copies", part_copies},
        {"fill", part_fill},
        {"scratch", part_scratch},
        {"profile", part_profile},
        {"shared_counter", part_shared_counter},
        {"endless", part_endless},
        {"many_queues", part_many_queues},
        {"fault", part_fault},
        {"held", part_held},
    };
    int failed = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: hsa_suite CODE32 CODE64 [PART]\n");
        return 2;
    }
    if (!start(argv[1], argv[2])) {
        printf("start FAILED: %s\n", why);
        return 1;
    }
    for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        bool chosen = argc > 3
                          ? strcmp(argv[3], parts[i].name) == 0
                          : parts[i].run != part_fault && parts[i].run != part_held;
        if (!chosen)
            continue;
        bool ok = parts[i].run();
        failed += !ok;
        printf("%s %s%s\n", parts[i].name, ok ? "ok" : "FAILED: ", ok ? "" : why);
        fflush(stdout);
    }
    return failed != 0;
}
