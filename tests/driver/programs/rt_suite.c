/* rt_suite.c: the user-mode runtime against whatever /dev/kfd is there.
 *
 * usage: rt_suite [PART...] [-- PROGRAM ARGUMENT...]; prints "PART ok" for each (all,
 * without either), and becomes the program, with the device in use. Run it under `rdna3
 * exec`, or on a board. Code is bare: what kernels compute is tested elsewhere.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rt.h"

#define SECOND 1000000000ull

static struct rt_device *dev;
static struct rt_error err;

#define CHECK(cond)                                                                    \
    do {                                                                               \
        if (!(cond)) {                                                                 \
            printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #cond, err.text);           \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)
#define OK(call) CHECK((call) == RD_OK)

/* Descriptor: kernarg pointer in s[0:1], 8 VGPRs, wave32. */
static void descriptor(uint32_t kd[16], uint32_t scratch)
{
    memset(kd, 0, 64);
    kd[1] = scratch;
    kd[2] = 16;                                           /* kernarg bytes */
    kd[12] = 0xfu << 16 | 1u << 21 | 1u << 23 | 1u << 30; /* rsrc1 */
    kd[13] = 2u << 1 | (scratch ? 1 : 0);                 /* rsrc2 */
    kd[14] = 1u << 3 | 1u << 10;                          /* properties */
}

/* s_load_b64 s[2:3], s[0:1], 0; s_load_b32 s4, s[0:1], 8; wait; v0 = s4;
 * global_store_b32 at s[2:3] + 0; end */
static const uint32_t store_code[] = {
    0xf4040080, 0xf8000000, 0xf4000100, 0xf8000008, 0xbf89fc07,
    0x7e000204, 0x7e020280, 0xdc6a0000, 0x00020001, 0xbfb00000,
};

struct store {
    struct rt_code *code;
    struct rt_kernel kernel;
    struct rt_buffer *args;
};

static struct store load_store(uint64_t to, uint32_t value, uint32_t scratch)
{
    struct store s;
    uint32_t kd[16];
    descriptor(kd, scratch);
    OK(rt_load_raw(dev, store_code, sizeof(store_code), kd, 0, &s.code, &err));
    OK(rt_kernel_find(s.code, NULL, &s.kernel, &err));
    OK(rt_alloc(dev, 16, RT_GTT, 0, &s.args, &err));
    memcpy(rt_host(s.args), &to, 8);
    memcpy((char *)rt_host(s.args) + 8, &value, 4);
    return s;
}

static void part_device(void)
{
    const struct rt_info *i = rt_info(dev);
    uint64_t a[3], b[3];
    CHECK(i->gfx_version == 110000 && i->compute_units && i->shader_engines);
    CHECK(i->vram_bytes > 1u << 24 && i->clock_hz);
    OK(rt_clocks(dev, a, &err));
    OK(rt_clocks(dev, b, &err));
    CHECK(b[0] >= a[0] && b[1] >= a[1]);
    struct rt_device *none = NULL;
    struct rt_config second = {.index = 1000}, elsewhere = {.kfd = "/dev/nothing"};
    CHECK(rt_open(&second, &none, &err) == RD_E_NOT_FOUND);
    CHECK(rt_open(&elsewhere, &none, &err) == RD_E_NOT_FOUND);
    CHECK(strstr(err.text, "/dev/nothing"));
}

static void part_memory(void)
{
    struct rt_buffer *b;
    for (int kind = RT_VRAM; kind <= RT_USER; kind++) {
        OK(rt_alloc(dev, 5000, (enum rt_memory)kind, 0, &b, &err));
        CHECK(rt_bytes(b) == 8192 && rt_gpuva(b) % 4096 == 0);
        const uint8_t *p = rt_host(b);
        CHECK(p[0] == 0 && p[8191] == 0);
        memset(rt_host(b), 1, 8192);
        rt_free(b);
    }
    CHECK(rt_alloc(dev, 0, RT_VRAM, 0, &b, &err) == RD_E_INVALID);
    CHECK(rt_alloc(dev, 1ull << 45, RT_VRAM, 0, &b, &err) == RD_E_NOMEM);
    CHECK(rt_register(dev, (void *)0x1001, 4096, &b, &err) == RD_E_INVALID);
}

/* What sysfs says that this process has of the board's memory. */
static uint64_t shown_bytes(void)
{
    char path[512];
    unsigned long long bytes = 0;
    snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", (int)getpid());
    DIR *d = opendir(path);
    CHECK(d);
    size_t at = strlen(path);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strncmp(e->d_name, "vram_", 5) == 0)
            snprintf(path + at, sizeof(path) - at, "/%.80s", e->d_name);
    closedir(d);
    FILE *f = fopen(path, "re");
    CHECK(f && fscanf(f, "%llu", &bytes) == 1);
    fclose(f);
    return bytes;
}

/* How many queues sysfs has of this process, with their sizes in all. */
static unsigned shown_queues(uint64_t *bytes)
{
    char folder[128], path[512];
    unsigned n = 0;
    snprintf(folder, sizeof(folder), "/sys/class/kfd/kfd/proc/%d/queues",
             (int)getpid());
    DIR *d = opendir(folder);
    CHECK(d);
    *bytes = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        unsigned long long size = 0;
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%.80s/size", folder, e->d_name);
        FILE *f = fopen(path, "re");
        CHECK(f && fscanf(f, "%llu", &size) == 1 && fgetc(f) == EOF);
        fclose(f);
        *bytes += size;
        n++;
    }
    closedir(d);
    return n;
}

static void part_shown_queues(void)
{
    struct rt_queue *q, *other;
    uint64_t before, one, two;
    unsigned n = shown_queues(&before);
    OK(rt_queue_create(dev, 64, &q, &err));
    CHECK(shown_queues(&one) == n + 1 && one == before + 64 * 64ull);
    OK(rt_queue_create(dev, 1024, &other, &err));
    CHECK(shown_queues(&two) == n + 2 && two == one + 1024 * 64ull);
    rt_queue_destroy(q);
    CHECK(shown_queues(&two) == n + 1 && two == before + 1024 * 64ull);
    rt_queue_destroy(other);
    CHECK(shown_queues(&two) == n && two == before);
}

static _Atomic bool enough;

/* Asks the device for something all the time. */
static void *ask(void *unused)
{
    uint32_t version[2];
    int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    (void)unused;
    CHECK(fd >= 0);
    while (!enough)
        CHECK(ioctl(fd, _IOR('K', 1, version), version) == 0);
    close(fd);
    return NULL;
}

/* ... as soon as there are, whatever other threads do. */
static void part_shown_meanwhile(void)
{
    pthread_t other;
    struct rt_queue *q;
    uint64_t bytes;
    unsigned n = shown_queues(&bytes);
    enough = false;
    CHECK(pthread_create(&other, NULL, ask, NULL) == 0);
    for (unsigned i = 0; i < 20; i++) {
        OK(rt_queue_create(dev, 64, &q, &err));
        CHECK(shown_queues(&bytes) == n + 1);
        rt_queue_destroy(q);
        CHECK(shown_queues(&bytes) == n);
    }
    enough = true;
    CHECK(pthread_join(other, NULL) == 0);
}

static void part_shown(void)
{
    struct rt_buffer *b;
    uint64_t before = shown_bytes();
    OK(rt_alloc(dev, 4u << 20, RT_VRAM, 0, &b, &err));
    CHECK(shown_bytes() - before == 4u << 20);
    rt_free(b);
    CHECK(shown_bytes() == before);
}

/* Others come and go: a command of who runs the suite. */
static void part_beside(void)
{
    const char *command = getenv("RT_BESIDE");
    uint64_t before = shown_bytes();
    CHECK(system(command ? command : "exit 0") == 0); // NOLINT(cert-env33-c)
    CHECK(shown_bytes() == before);
}

/* Without its folder (on the mock: a real driver's cannot be removed), a process shows
 * itself anew. */
static void part_removed(void)
{
    const char *state = getenv("RDNA3_STATE");
    char command[512];
    struct rt_buffer *b;
    uint64_t before = shown_bytes();
    snprintf(command, sizeof(command),
             "rm -r %s/root/sys/devices/virtual/kfd/kfd/proc/%d", state, (int)getpid());
    CHECK(!state || system(command) == 0); // NOLINT(cert-env33-c)
    OK(rt_alloc(dev, 4u << 20, RT_VRAM, 0, &b, &err));
    CHECK(shown_bytes() - before == 4u << 20);
    rt_free(b);
}

static void part_copies(void)
{
    enum { N = 9u << 20 };
    struct rt_buffer *a, *b, *c;
    struct rt_signal *first, *second;
    OK(rt_alloc(dev, N, RT_USER, 0, &a, &err));
    OK(rt_alloc(dev, N, RT_VRAM, 0, &b, &err));
    OK(rt_alloc(dev, N, RT_GTT, 0, &c, &err));
    OK(rt_signal_create(dev, 1, &first, &err));
    OK(rt_signal_create(dev, 1, &second, &err));
    uint8_t *from = rt_host(a), *to = rt_host(c);
    for (unsigned i = 0; i < N; i++)
        from[i] = (uint8_t)(i * 7 + (i >> 9));
    OK(rt_copy(dev, rt_gpuva(b) + 3, rt_gpuva(a) + 1, N - 5, NULL, first, &err));
    OK(rt_copy(dev, rt_gpuva(c), rt_gpuva(b) + 3, N - 5, first, second, &err));
    OK(rt_wait(second, 60 * SECOND, &err));
    CHECK(memcmp(to, from + 1, N - 5) == 0 && to[N - 5] == 0);
    uint64_t start, end;
    rt_signal_times(second, &start, &end);
    CHECK(start && end >= start);
    OK(rt_fill(dev, rt_gpuva(c) + 4, 0x01020304, 4096, NULL, &err));
    CHECK(to[3] == from[4] && to[4] == 4 && to[4099] == 1 && to[4100] == from[4101]);
    for (unsigned i = 0; i < 3000; i++) /* more than the ring holds */
        OK(rt_copy(dev, rt_gpuva(b), rt_gpuva(a), 64, NULL, NULL, &err));
}

static void part_dispatch(void)
{
    struct rt_queue *q;
    struct rt_signal *done;
    struct rt_buffer *out;
    uint32_t *value;
    OK(rt_queue_create(dev, 64, &q, &err));
    OK(rt_signal_create(dev, 1, &done, &err));
    OK(rt_alloc(dev, 4096, RT_GTT, 0, &out, &err));
    value = rt_host(out);
    struct store s = load_store(rt_gpuva(out), 77, 0);
    struct rt_launch l = {.kernarg_gpuva = rt_gpuva(s.args), .signal = done};
    OK(rt_launch(q, &s.kernel, &l, &err));
    OK(rt_wait(done, 60 * SECOND, &err));
    CHECK(*value == 77);
    rt_unload(s.code); /* other code at the same place */
    struct store t = load_store(rt_gpuva(out) + 4, 78, 256);
    l.kernarg_gpuva = rt_gpuva(t.args);
    rt_signal_set(done, 200);
    for (unsigned i = 0; i < 200; i++) /* more than the ring holds, and scratch */
        OK(rt_launch(q, &t.kernel, &l, &err));
    OK(rt_wait(done, 60 * SECOND, &err));
    CHECK(value[1] == 78 && rt_signal_value(done) == 0);
    l.block[0] = 2048;
    CHECK(rt_launch(q, &t.kernel, &l, &err) == RD_E_INVALID);
    rt_queue_destroy(q);
}

static void part_barrier(void)
{
    struct rt_queue *q;
    struct rt_signal *gate, *done;
    OK(rt_queue_create(dev, 0, &q, &err));
    OK(rt_signal_create(dev, 1, &gate, &err));
    OK(rt_signal_create(dev, 1, &done, &err));
    OK(rt_barrier(q, &gate, 1, done, &err));
    CHECK(rt_wait(done, SECOND / 50, &err) == RD_E_TIMEOUT);
    rt_signal_set(gate, 0);
    OK(rt_wait(done, 60 * SECOND, &err));
}

/* The faults come last: a device that has failed stays so. */
static void part_bad_packet(void)
{
    struct rt_queue *q;
    struct rt_signal *done;
    OK(rt_queue_create(dev, 0, &q, &err));
    OK(rt_signal_create(dev, 1, &done, &err));
    struct rt_kernel kernel = {.name = "none"};
    struct rt_launch l = {.signal = done};
    OK(rt_launch(q, &kernel, &l, &err));
    CHECK(rt_wait(done, 60 * SECOND, &err) == RD_E_FAULT);
    CHECK(strstr(err.text, "kernel object"));
}

static void part_fault(void)
{
    struct rt_queue *q;
    struct rt_signal *done;
    OK(rt_queue_create(dev, 0, &q, &err));
    OK(rt_signal_create(dev, 1, &done, &err));
    struct store s = load_store(0x123456000, 1, 0);
    struct rt_launch l = {.kernarg_gpuva = rt_gpuva(s.args), .signal = done};
    OK(rt_launch(q, &s.kernel, &l, &err));
    CHECK(rt_wait(done, 60 * SECOND, &err) == RD_E_FAULT);
    CHECK(strstr(err.text, "0x123456000"));
    CHECK(rt_signal_value(done) == 1);
}

/* Memory that this process unmaps behind the driver's back. */
static void part_vanished(void)
{
    struct rt_queue *q;
    struct rt_signal *done;
    struct rt_buffer *b;
    char text[32];
    void *p =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OK(rt_queue_create(dev, 0, &q, &err));
    OK(rt_signal_create(dev, 1, &done, &err));
    OK(rt_register(dev, p, 8192, &b, &err));
    struct store s = load_store(rt_gpuva(b) + 4096, 1, 0);
    struct rt_launch l = {.kernarg_gpuva = rt_gpuva(s.args), .signal = done};
    CHECK(munmap((char *)p + 4096, 4096) == 0);
    OK(rt_launch(q, &s.kernel, &l, &err));
    CHECK(rt_wait(done, 60 * SECOND, &err) == RD_E_FAULT);
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(rt_gpuva(b) + 4096));
    CHECK(strstr(err.text, text));
}

static sigjmp_buf back;
static volatile sig_atomic_t own_faults;

static void own_handler(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    own_faults = own_faults + 1;
    siglongjmp(back, 1);
}

/* A program that handles its own faults sees those, and only those. */
static void part_own_handler(void)
{
    struct rt_queue *q;
    struct sigaction sa = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO}, got;
    OK(rt_queue_create(dev, 0, &q, &err)); /* the driver's own precautions come first */
    sigemptyset(&sa.sa_mask);
    CHECK(sigaction(SIGSEGV, &sa, NULL) == 0);
    CHECK(sigaction(SIGSEGV, NULL, &got) == 0 && got.sa_sigaction == own_handler);
    part_vanished();
    CHECK(own_faults == 0);
    volatile char *nowhere =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sigsetjmp(back, 1) == 0)
        *nowhere = 1;
    CHECK(own_faults == 1);
    CHECK(signal(SIGSEGV, SIG_DFL) != SIG_ERR);
}

/* The process ends while a kernel runs that does not. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* s[2:3] = pointer; repeat v1 = its value, until that is not 0 */
static const uint32_t wait_code[] = {
    0xf4040080, 0xf8000000, 0x7e000280, 0xbf89fc07, 0xdc526000, 0x01020000,
    0xbf8903f7, 0x7e080501, 0xbf068004, 0xbfa2fff8, 0xbfb00000,
};

/* A thread that spins while a kernel runs may be held up, but not beyond that, and its
 * children never. */
static void part_spin(void)
{
    struct rt_queue *q;
    struct rt_signal *done;
    struct rt_buffer *flag, *args;
    struct rt_code *code;
    struct rt_kernel kernel;
    uint32_t kd[16];
    descriptor(kd, 0);
    OK(rt_queue_create(dev, 0, &q, &err));
    OK(rt_signal_create(dev, 1, &done, &err));
    OK(rt_alloc(dev, 4096, RT_GTT, 0, &flag, &err));
    OK(rt_alloc(dev, 16, RT_GTT, 0, &args, &err));
    OK(rt_load_raw(dev, wait_code, sizeof(wait_code), kd, 0, &code, &err));
    OK(rt_kernel_find(code, NULL, &kernel, &err));
    uint64_t to = rt_gpuva(flag);
    memcpy(rt_host(args), &to, 8);
    struct rt_launch l = {.kernarg_gpuva = rt_gpuva(args), .signal = done};
    OK(rt_launch(q, &kernel, &l, &err));
    bool lowered = false;
    int status = 0;
    for (double end = seconds() + 2; seconds() < end && !lowered;)
        lowered = sched_getscheduler(0) == SCHED_IDLE;
    for (unsigned i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(sched_getscheduler(0) != SCHED_OTHER);
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        for (double end = seconds() + 0.003; seconds() < end;)
            ;
    }
    uint32_t *told = rt_host(flag);
    __atomic_store_n(told, 1, __ATOMIC_RELEASE);
    while (rt_signal_value(done))
        ;
    for (double end = seconds() + 2; sched_getscheduler(0) != SCHED_OTHER;)
        CHECK(seconds() < end);
    printf("%s\n", lowered ? "the kernel went first" : "all went on alike");
}

static void part_leave(void)
{
    static const uint32_t forever[] = {0xbfa0ffff, 0xbfb00000}; /* s_branch to itself */
    struct rt_queue *q;
    struct rt_signal *done;
    struct rt_code *code;
    struct rt_kernel kernel;
    uint32_t kd[16];
    descriptor(kd, 0);
    OK(rt_queue_create(dev, 0, &q, &err));
    OK(rt_signal_create(dev, 1, &done, &err));
    OK(rt_load_raw(dev, forever, sizeof(forever), kd, 0, &code, &err));
    OK(rt_kernel_find(code, NULL, &kernel, &err));
    struct rt_launch l = {.items = {4096, 1, 1}, .block = {64, 1, 1}, .signal = done};
    OK(rt_launch(q, &kernel, &l, &err));
    CHECK(rt_wait(done, SECOND / 5, &err) == RD_E_TIMEOUT);
    printf("leave ok\n");
    exit(0);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"device", part_device},
    {"memory", part_memory},
    {"shown", part_shown},
    {"shown_queues", part_shown_queues},
    {"shown_meanwhile", part_shown_meanwhile},
    {"beside", part_beside},
    {"removed", part_removed},
    {"copies", part_copies},
    {"dispatch", part_dispatch},
    {"barrier", part_barrier},
    {"bad_packet", part_bad_packet},
    {"fault", part_fault},
    {"vanished", part_vanished},
    {"own_handler", part_own_handler},
    {"spin", part_spin},
    {"leave", part_leave},
};

int main(int argc, char **argv)
{
    char **program = argv + 1;
    while (*program && strcmp(*program, "--") != 0)
        program++;
    if (*program)
        argc = (int)(program++ - argv);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        bool wanted = argc < 2 && !*program;
        for (int k = 1; k < argc; k++)
            wanted = wanted || strcmp(argv[k], parts[i].name) == 0;
        if (!wanted)
            continue;
        OK(rt_open(NULL, &dev, &err));
        parts[i].run();
        rt_close(dev);
        printf("%s ok\n", parts[i].name);
        fflush(stdout);
    }
    if (!*program)
        return 0;
    OK(rt_open(NULL, &dev, &err));
    shown_bytes();
    execvp(program[0], program);
    return 1;
}
