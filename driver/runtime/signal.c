/* signal.c: signals, the kernel's events behind them, waiting, failure of the device.
 *
 * A signal is 64 bytes of host memory; slot i of the pool has event i of its own, made
 * with it. Waiting looks at the value before and after every sleep, and the kernel
 * counts the event's signals (its age), so no wake-up is lost. Invariant: once a fault
 * has been seen, every wait says so. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define EVENT_PAGE_BYTES 32768u
#define POOL_SIGNALS     2048u
#define SPINS            4000u
#define SIGNAL_KIND_USER 1

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static rd_status create_event(struct rt_device *dev, uint32_t type, uint64_t page,
                              struct kfd_ioctl_create_event_args *out,
                              struct rt_error *err)
{
    *out =
        (struct kfd_ioctl_create_event_args){.event_page_offset = page,
                                             .event_type = type,
                                             .auto_reset = type == KFD_IOC_EVENT_SIGNAL,
                                             .node_id = dev->info.gpu_id};
    int r = rt_ioctl(dev, AMDKFD_IOC_CREATE_EVENT, out);
    if (r)
        return rt_fail(err, rt_from_errno(r), "cannot create an event: %s",
                       strerror(-r));
    return RD_OK;
}

static void destroy_event(struct rt_device *dev, uint32_t id)
{
    struct kfd_ioctl_destroy_event_args d = {.event_id = id};
    if (id)
        (void)rt_ioctl(dev, AMDKFD_IOC_DESTROY_EVENT, &d);
}

/* The page of mailboxes belongs to the process: the kernel takes one and keeps it. A
 * forked child has none. */
static struct {
    pthread_mutex_t lock;
    pid_t pid;
    uint64_t va, handle;
} page = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The memory event; the first event of a process brings the page. */
static rd_status open_page(struct rt_device *dev, struct rt_error *err)
{
    struct kfd_ioctl_create_event_args ev = {.event_id = 0};
    struct rt_buffer *b = NULL;
    rd_status st = RD_OK;
    pthread_mutex_lock(&page.lock);
    bool have = page.pid == getpid();
    if (!have)
        st = rt_alloc(dev, EVENT_PAGE_BYTES, RT_GTT, RT_EXEC, &b, err);
    else if (rt_map_handle(dev, page.handle) != 0)
        st = rt_fail(err, RD_E_IO, "the GPU cannot see the page of mailboxes");
    if (st == RD_OK)
        st = create_event(dev, KFD_IOC_EVENT_MEMORY, b ? b->handle : 0, &ev, err);
    if (st == RD_OK && b) {
        page.pid = getpid();
        page.va = rt_gpuva(b);
        page.handle = b->handle;
        rt_keep(b);
    }
    dev->event_page = page.va;
    dev->memory_event = ev.event_id;
    pthread_mutex_unlock(&page.lock);
    return st;
}

rd_status rt_events_open(struct rt_device *dev, struct rt_error *err)
{
    struct kfd_ioctl_create_event_args ev;
    rd_status st = open_page(dev, err);
    if (st == RD_OK)
        st = rt_alloc(dev, POOL_SIGNALS * sizeof(struct amd_signal), RT_GTT, 0,
                      &dev->pool, err);
    if (st == RD_OK && !(dev->pool_used = calloc(POOL_SIGNALS, 1)))
        st = rt_fail(err, RD_E_NOMEM, "out of memory");
    if (st == RD_OK)
        st = create_event(dev, KFD_IOC_EVENT_HW_EXCEPTION, 0, &ev, err);
    if (st == RD_OK)
        dev->hw_event = ev.event_id;
    return st;
}

void rt_events_close(struct rt_device *dev)
{
    destroy_event(dev, dev->memory_event);
    destroy_event(dev, dev->hw_event);
    free(dev->pool_used);
    dev->pool_used = NULL;
}

/* ---- signals ---- */

static bool take_slot(struct rt_device *dev, uint32_t *slot)
{
    bool found = false;
    pthread_mutex_lock(&dev->lock);
    for (uint32_t i = 0; i < POOL_SIGNALS && !found; i++) {
        if (dev->pool_used[i])
            continue;
        dev->pool_used[i] = 1;
        *slot = i;
        found = true;
    }
    pthread_mutex_unlock(&dev->lock);
    return found;
}

rd_status rt_signal_create(struct rt_device *dev, int64_t value, struct rt_signal **out,
                           struct rt_error *err)
{
    struct kfd_ioctl_create_event_args ev;
    struct rt_signal *s = calloc(1, sizeof(*s));
    if (!s)
        return rt_fail(err, RD_E_NOMEM, "out of memory");
    if (!take_slot(dev, &s->slot)) {
        free(s);
        return rt_fail(err, RD_E_NOMEM, "all %u signals are in use", POOL_SIGNALS);
    }
    rd_status st = create_event(dev, KFD_IOC_EVENT_SIGNAL, 0, &ev, err);
    if (st != RD_OK) {
        dev->pool_used[s->slot] = 0;
        free(s);
        return st;
    }
    struct amd_signal *pool = rt_host(dev->pool);
    s->dev = dev;
    s->age = 1;
    s->amd = &pool[s->slot];
    *s->amd =
        (struct amd_signal){.kind = SIGNAL_KIND_USER,
                            .value = value,
                            .mailbox = dev->event_page + 8ull * ev.event_slot_index,
                            .event_id = ev.event_id};
    pthread_mutex_lock(&dev->lock);
    s->next = dev->signals;
    s->link = &dev->signals;
    if (s->next)
        s->next->link = &s->next;
    dev->signals = s;
    pthread_mutex_unlock(&dev->lock);
    *out = s;
    return RD_OK;
}

void rt_signal_destroy(struct rt_signal *s)
{
    if (!s)
        return;
    destroy_event(s->dev, s->amd->event_id);
    pthread_mutex_lock(&s->dev->lock);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->dev->pool_used[s->slot] = 0;
    pthread_mutex_unlock(&s->dev->lock);
    free(s);
}

void rt_signal_set(struct rt_signal *s, int64_t value)
{
    __atomic_store_n(&s->amd->value, value, __ATOMIC_RELEASE);
}

int64_t rt_signal_value(const struct rt_signal *s)
{
    return __atomic_load_n(&s->amd->value, __ATOMIC_ACQUIRE);
}

void rt_signal_times(const struct rt_signal *s, uint64_t *start, uint64_t *end)
{
    *start = s->amd->start;
    *end = s->amd->end;
}

/* ---- failure ---- */

/* Values that the firmware leaves in an AQL queue's signal when it stops. */
static const char *stop_text(uint64_t value)
{
    static const struct {
        uint64_t bit;
        const char *text;
    } texts[] = {
        {0x400, "not enough scratch memory"},
        {0x1, "not enough scratch memory"},
        {0x2, "invalid dispatch dimensions"},
        {0x4, "too much LDS"},
        {0x8, "invalid kernel object"},
        {0x20, "invalid packet"},
        {0x100, "unsupported packet"},
        {0x40, "invalid workgroup size"},
        {0x80, "too many registers"},
        {0x200, "scratch memory is to be returned"},
        {0x10000000, "no progress"},
        {0x20000000, "access outside an aperture"},
        {0x40000000, "illegal instruction"},
        {0x80000000, "trap"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (value & texts[i].bit)
            return texts[i].text;
    return "unknown reason";
}

static void set_failure(struct rt_device *dev, const struct rt_error *what)
{
    pthread_mutex_lock(&dev->lock);
    if (!dev->failed) {
        dev->failure = *what;
        __atomic_store_n(&dev->failed, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&dev->lock);
}

static void look_at_queues(struct rt_device *dev)
{
    for (unsigned i = 0; i < RT_MAX_QUEUES; i++) {
        const struct rt_queue *q = __atomic_load_n(&dev->queues[i], __ATOMIC_ACQUIRE);
        if (!q)
            continue;
        uint64_t why = (uint64_t)rt_signal_value(q->inactive);
        if (!why)
            continue;
        struct rt_error text;
        (void)rt_fail(&text, RD_E_FAULT,
                      "queue %u has stopped: %s (code 0x%" PRIx64 ")", q->ring.id,
                      stop_text(why), why);
        set_failure(dev, &text);
    }
}

static void look_at_fault(struct rt_device *dev, const struct kfd_event_data *data)
{
    const struct kfd_hsa_memory_exception_data *m = &data->memory_exception_data;
    struct rt_error text;
    if (m->gpu_id != dev->info.gpu_id)
        return;
    (void)rt_fail(&text, RD_E_FAULT, "GPU page fault at 0x%llx: %s",
                  (unsigned long long)m->va,
                  m->failure.NoExecute  ? "not executable"
                  : m->failure.ReadOnly ? "read only"
                                        : "nothing is mapped there");
    set_failure(dev, &text);
}

static void look_at_reset(struct rt_device *dev, const struct kfd_event_data *data)
{
    const struct kfd_hsa_hw_exception_data *h = &data->hw_exception_data;
    struct rt_error text;
    if (h->gpu_id != dev->info.gpu_id)
        return;
    (void)rt_fail(&text, RD_E_FAULT, "the GPU was reset (cause %u)", h->reset_cause);
    set_failure(dev, &text);
}

rd_status rt_check(struct rt_device *dev, struct rt_error *err)
{
    look_at_queues(dev);
    if (!__atomic_load_n(&dev->failed, __ATOMIC_ACQUIRE))
        return RD_OK;
    return rt_fail(err, RD_E_FAULT, "%s", dev->failure.text);
}

/* ---- waiting ---- */

/* Sleep until the signal's event, a failure or the timeout. signal NULL: only look. */
static void sleep_for(struct rt_device *dev, struct rt_signal *s, uint32_t timeout_ms)
{
    struct kfd_event_data data[3];
    memset(data, 0, sizeof(data));
    data[0].event_id = dev->memory_event;
    data[1].event_id = dev->hw_event;
    struct kfd_ioctl_wait_events_args w = {
        .events_ptr = (uintptr_t)data, .num_events = 2, .timeout = timeout_ms};
    if (s) {
        data[2].event_id = s->amd->event_id;
        data[2].signal_event_data.last_event_age = s->age;
        w.num_events = 3;
    }
    if (rt_ioctl(dev, AMDKFD_IOC_WAIT_EVENTS, &w) != 0 ||
        w.wait_result != KFD_IOC_WAIT_RESULT_COMPLETE)
        return;
    if (s)
        s->age = data[2].signal_event_data.last_event_age;
    look_at_fault(dev, &data[0]);
    look_at_reset(dev, &data[1]);
}

#define NAP_MS 200u /* a queue's failure has no event of its own in the wait */

rd_status rt_wait(struct rt_signal *s, uint64_t timeout_ns, struct rt_error *err)
{
    for (unsigned i = 0; i < SPINS; i++) {
        if (rt_signal_value(s) <= 0)
            return RD_OK;
        if (i % 512 == 511)
            sched_yield();
        __builtin_ia32_pause();
    }
    uint64_t start = now_ns();
    for (;;) {
        if (rt_signal_value(s) <= 0)
            return RD_OK;
        rd_status st = rt_check(s->dev, err);
        if (st != RD_OK)
            return st;
        uint64_t passed = now_ns() - start;
        if (passed >= timeout_ns)
            return rt_fail(err, RD_E_TIMEOUT, "no answer from the GPU within %.3f s",
                           (double)timeout_ns * 1e-9);
        uint64_t left_ms = (timeout_ns - passed) / 1000000 + 1;
        sleep_for(s->dev, s, left_ms < NAP_MS ? (uint32_t)left_ms : NAP_MS);
    }
}

rd_status rt_poll(struct rt_device *dev, bool (*ready)(void *ctx), void *ctx,
                  struct rt_error *err)
{
    for (unsigned i = 1; !ready(ctx); i++) {
        if (i % 64 == 0)
            sched_yield();
        if (i % 16384 == 0) {
            sleep_for(dev, NULL, 0);
            rd_status st = rt_check(dev, err);
            if (st != RD_OK)
                return st;
        }
        __builtin_ia32_pause();
    }
    return RD_OK;
}
