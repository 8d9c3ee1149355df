/* report.c: what a run cost: the timing file, a summary, an annotated listing.
 *
 * Reads the engine's accounts, changes nothing. SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "facts.h"
#include "several.h"

static int by_start(const void *a, const void *b)
{
    const struct tm_record *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : 0;
}

uint64_t tm_span_cycles(const struct tm_engine *t)
{
    double span, error;
    tm_sample_estimate(t, &span, &error);
    return (uint64_t)(span + 0.5);
}

uint64_t tm_span_error(const struct tm_engine *t)
{
    double span, error;
    tm_sample_estimate(t, &span, &error);
    return (uint64_t)ceil(error);
}

struct use {
    double valu, lds, busy;
    double held, wave_cycles; /* SIMD cycles with a wave; sum of the waves' durations */
};

static struct use measure(const struct tm_engine *t)
{
    struct use u = {0};
    double valu = 0, held = 0, lds = 0, simds = 0, cus = 0;
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++) {
        const struct tm_wgp *g = &t->chip.wgps[i];
        u.busy += (double)g->room.busy_cycles;
        for (unsigned c = 0; c < 2; c++) {
            const struct tm_cu *cu = &g->cu[c];
            lds += (double)cu->lds.cycles;
            /* not its own account: a sample that is cut ends before its waves do */
            cus += cu->simd[0].room.held + cu->simd[1].room.held > 0;
            for (unsigned s = 0; s < 2; s++) {
                valu += (double)cu->simd[s].valu.cycles;
                held += (double)cu->simd[s].room.held;
                simds += cu->simd[s].room.held > 0;
            }
        }
    }
    u.wave_cycles = t->totals.wave_cycles;
    double part = 1, span = (double)tm_span_cycles(t);
    if (tm_sample_part(t) < 1) { /* as of the whole launch */
        part = tm_sample_part(t);
        held = (held + simds * (span - tm_sample_span(t))) * part;
    }
    u.held = held;
    /* As profilers show it: of the whole span, of units that were used at all. */
    if (simds > 0 && span > 0) {
        u.valu = 100 * valu / part / (simds * span);
        u.lds = 100 * lds / part / (cus * span);
    }
    return u;
}

static void write_wave(const struct tm_engine *t, const struct tm_record *r, FILE *f)
{
    fprintf(f,
            "{\"wg\": [%u, %u, %u], \"wave\": %u, \"se\": %u, \"sa\": %u, \"wgp\": %u, "
            "\"simd\": %u, \"slot\": %u, \"start\": %lld, \"end\": %lld",
            r->wg[0], r->wg[1], r->wg[2], r->wave, r->se, r->sa, r->wgp, r->simd,
            r->slot, (long long)r->start, (long long)r->end);
    if (t->several)
        fprintf(f, ", \"launch\": %u", r->launch);
    const struct tm_list *l = r->list;
    if (l && l->n) {
        fputs(", \"insts\": [", f);
        for (size_t i = 0; i < l->n; i++)
            fprintf(f, "%s[%u, %lld]", i ? ", " : "", l->inst[i].offset,
                    (long long)l->inst[i].t);
        fputs("], \"exec\": [", f);
        for (size_t i = 0; i < l->n; i++)
            fprintf(f, "%s%u", i ? ", " : "", l->inst[i].exec);
        fputc(']', f);
    }
    fputc('}', f);
}

/* Of launches that share the chip. */
static void write_launches(const struct tm_engine *t, FILE *f)
{
    fputs(",\n\"launches\": [", f);
    for (unsigned k = 0; k < t->several->n; k++) {
        const struct tm_one *o = &t->several->one[k];
        fprintf(f,
                "%s{\"queue\": %u, \"barrier\": %s, \"begun\": %lld, \"start\": %lld, "
                "\"end\": %lld, \"workgroups\": %llu}",
                k ? ", " : "", o->is.queue, o->is.barrier ? "true" : "false",
                (long long)o->begun, (long long)o->first, (long long)o->end,
                (unsigned long long)o->started);
    }
    fputc(']', f);
}

/* Wave cycles of the whole run by what they went to, and those by kind; returns their
 * sum. */
static uint64_t sum_cycles(const struct tm_engine *t, uint64_t stall[TM_STALLS],
                           uint64_t state[TM_STATES])
{
    uint64_t all = 0;
    memset(stall, 0, TM_STALLS * sizeof *stall);
    memset(state, 0, TM_STATES * sizeof *state);
    for (size_t i = 0; i < t->insts.numbers.n; i++)
        for (unsigned s = 0; s < TM_STALLS; s++)
            stall[s] += t->insts.inst[i]->stall[s];
    for (unsigned s = 0; s < TM_STALLS; s++) {
        state[tm_stall_state[s]] += stall[s];
        all += stall[s];
    }
    return all;
}

static const struct {
    const char *name;
    unsigned hit, miss;
} levels[] = {
    {"L0", TM_K_L0_HIT, TM_K_L0_MISS},     {"GL1", TM_K_GL1_HIT, TM_K_GL1_MISS},
    {"GL2", TM_K_GL2_HIT, TM_K_GL2_MISS},  {"MALL", TM_K_MALL_HIT, TM_K_MALL_MISS},
    {"scalar", TM_K_SC_HIT, TM_K_SC_MISS}, {"code", TM_K_CODE_HIT, TM_K_CODE_MISS}};
#define LEVELS (sizeof levels / sizeof levels[0])

static void write_numbers(const char *key, const char *const name[], unsigned n,
                          const uint64_t value[], FILE *f)
{
    fprintf(f, ",\n\"%s\": {", key);
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "%s\"%s\": %llu", i ? ", " : "", name[i],
                (unsigned long long)value[i]);
    fputc('}', f);
}

/* What the summary says in words: occupancy, wave cycles, counts, hit rates. */
static void write_totals(const struct tm_engine *t, FILE *f)
{
    uint64_t stall[TM_STALLS], state[TM_STATES], count[TM_COUNTS];
    enum tm_limit limit;
    unsigned occupancy = tm_occupancy(t, &limit);
    fprintf(f, ",\n\"occupancy\": {\"waves\": %llu, \"at_once\": %llu",
            (unsigned long long)t->totals.waves,
            (unsigned long long)t->totals.peak_waves);
    if (!t->several) /* else that of each kernel is another one */
        fprintf(f, ", \"waves_per_simd\": %u, \"limited_by\": \"%s\"", occupancy,
                tm_limit_name[limit]);
    fputc('}', f);
    (void)sum_cycles(t, stall, state);
    write_numbers("wave_cycles", tm_state_name, TM_STATES, state, f);
    write_numbers("stalls", tm_stall_name, TM_STALLS, stall, f);
    tm_account_count(t, count);
    write_numbers("counts", tm_count_name, TM_COUNTS, count, f);
    fputs(",\n\"hit_rates\": {", f);
    for (size_t i = 0; i < LEVELS; i++) {
        uint64_t hits = count[levels[i].hit], all = hits + count[levels[i].miss];
        fprintf(f, "%s\"%s\": ", i ? ", " : "", levels[i].name);
        if (all)
            fprintf(f, "%.6f", (double)hits / (double)all);
        else
            fputs("null", f);
    }
    fputc('}', f);
}

/* Workgroups, begun at least. */
static uint64_t simulated(const struct tm_engine *t)
{
    return t->pace.cut ? t->pace.groups : t->end_group;
}

void tm_write_json(const struct tm_engine *t, FILE *f)
{
    struct use u = measure(t);
    fprintf(f, "{\"sclk_mhz\": %g, \"span_cycles\": %llu,\n\"waves\": [",
            t->config.sclk_mhz, (unsigned long long)tm_span_cycles(t));
    if (t->records.n)
        qsort(t->records.record, t->records.n, sizeof *t->records.record, by_start);
    for (size_t i = 0; i < t->records.n && !t->config.forget_waves; i++) {
        fputs(i ? ",\n" : "\n", f);
        write_wave(t, &t->records.record[i], f);
    }
    fprintf(
        f,
        "],\n\"counters\": {\"SQ_INSTS_VALU\": %llu, \"SQ_INSTS_SALU\": %llu, "
        "\"SQC_LDS_IDX_ACTIVE\": %llu, \"SQC_LDS_BANK_CONFLICT\": %llu, "
        "\"GL2C_HIT\": %llu, \"GL2C_MISS\": %llu, \"SQ_BUSY_CYCLES\": %.0f},\n",
        (unsigned long long)(t->chip.issues.of_class[TM_VALU] - t->chip.issues.skipped),
        (unsigned long long)t->chip.issues.of_class[TM_SALU],
        (unsigned long long)t->chip.lds.active,
        (unsigned long long)t->chip.lds.conflict,
        (unsigned long long)t->chip.mem->gl2_hit,
        (unsigned long long)t->chip.mem->gl2_miss, u.busy);
    fprintf(f, "\"util\": {\"valu\": %.1f, \"lds\": %.1f}", u.valu, u.lds);
    if (tm_sample_part(t) < 1)
        fprintf(f,
                ", \"sample\": {\"workgroups\": %llu, \"of\": %llu, "
                "\"span_error\": %llu}",
                (unsigned long long)simulated(t),
                (unsigned long long)t->launch.n_groups,
                (unsigned long long)tm_span_error(t));
    if (t->several)
        write_launches(t, f);
    write_totals(t, f);
    fputs("}\n", f);
}

/* Of all cycles of all waves: the states, most first. */
static void print_stack(const struct tm_engine *t, FILE *f)
{
    uint64_t stall[TM_STALLS], state[TM_STATES];
    uint64_t all = sum_cycles(t, stall, state);
    bool shown[TM_STATES] = {false};
    if (!all)
        return;
    fputs("wave cycles        ", f);
    for (unsigned n = 0; n < TM_STATES; n++) {
        unsigned best = TM_STATES;
        for (unsigned s = 0; s < TM_STATES; s++)
            if (!shown[s] && state[s] && (best == TM_STATES || state[s] > state[best]))
                best = s;
        if (best == TM_STATES)
            break;
        shown[best] = true;
        fprintf(f, "%s%s %.1f %%", n ? ", " : "", tm_state_name[best],
                100.0 * (double)state[best] / (double)all);
    }
    fputc('\n', f);
}

/* Instructions per cycle and SIMD that holds a wave: at most 1 per unit. */
static void print_issue(const struct tm_engine *t, double held, FILE *f)
{
    fprintf(f, "instructions       %llu, %.3f per SIMD cycle\n",
            (unsigned long long)t->chip.issues.all,
            held > 0 ? (double)t->chip.issues.all / held : 0);
    fputs("issue by unit      ", f);
    const char *comma = "";
    for (unsigned c = 0; c < TM_CLASSES; c++) {
        if (!t->chip.issues.of_class[c])
            continue;
        fprintf(f, "%s%s %.1f %%", comma, tm_class_name[c],
                held > 0 ? 100 * (double)t->chip.issues.of_class[c] / held : 0);
        comma = ", ";
    }
    fputc('\n', f);
}

static void print_caches(const struct tm_engine *t, FILE *f)
{
    uint64_t k[TM_COUNTS];
    tm_account_count(t, k);
    fputs("hit rates          ", f);
    for (size_t i = 0; i < LEVELS; i++) {
        uint64_t hits = k[levels[i].hit], all = hits + k[levels[i].miss];
        fprintf(f, "%s%s ", i ? ", " : "", levels[i].name);
        if (all)
            fprintf(f, "%.1f %%", 100.0 * (double)hits / (double)all);
        else
            fputs("unused", f);
    }
    fputc('\n', f);
}

static void print_sample(const struct tm_engine *t, double cycles, FILE *f)
{
    double error = (double)tm_span_error(t);
    fprintf(
        f,
        "sampled            %llu of %llu workgroups; the cycles are an estimate, +- "
        "%.0f (%.1f %%)\n",
        (unsigned long long)simulated(t), (unsigned long long)t->launch.n_groups, error,
        cycles > 0 ? 100 * error / cycles : 0);
    if (t->pace.cut)
        fprintf(f,
                "                   by the pace of %.1f %% of the instructions, known "
                "within %.1f %%\n",
                100 * tm_sample_part(t), 100 * t->pace.error / t->pace.rate);
    else if (t->end_group < 5 * t->pace.capacity &&
             5 * t->pace.capacity < t->launch.n_groups)
        fprintf(f,
                "                   the chip holds %llu workgroups at once: from %llu "
                "on a sample says much more\n",
                (unsigned long long)t->pace.capacity,
                (unsigned long long)t->pace.capacity * 5);
}

void tm_print_summary(const struct tm_engine *t, FILE *f)
{
    struct use u = measure(t);
    double cycles = (double)tm_span_cycles(t), us = cycles / t->config.sclk_mhz;
    double scale = tm_sample_part(t) > 0 ? 1 / tm_sample_part(t) : 1;
    double per_us = us > 0 ? scale / us : 0;
    enum tm_limit limit;
    unsigned occupancy = tm_occupancy(t, &limit);
    fprintf(f, "cycles             %.0f (%.3f us at %g MHz)\n", cycles, us,
            t->config.sclk_mhz);
    fprintf(f, "waves              %llu, at most %llu at once\n",
            (unsigned long long)t->totals.waves,
            (unsigned long long)t->totals.peak_waves);
    double mean = u.held > 0 ? u.wave_cycles / u.held : 0;
    if (t->several) /* that of each kernel is another one */
        fprintf(f,
                "occupancy          %.1f of %.0f waves per SIMD on average where there "
                "are any\n",
                mean, t->chip.b.p.slots_per_simd);
    else
        fprintf(f,
                "occupancy          %u of %.0f waves per SIMD, limited by %s; %.1f on "
                "average where there are any\n",
                occupancy, t->chip.b.p.slots_per_simd, tm_limit_name[limit], mean);
    print_issue(t, u.held, f);
    print_stack(t, f);
    fprintf(f, "VALU busy          %.1f %%\n", u.valu);
    fprintf(f, "floating point     %.3f GFLOP/s (%llu operations)\n",
            (double)tm_flops(t) * per_us / 1000, (unsigned long long)tm_flops(t));
    fprintf(f, "LDS busy           %.1f %%, %llu of %llu cycles in bank conflicts\n",
            u.lds, (unsigned long long)t->chip.lds.conflict,
            (unsigned long long)t->chip.lds.active);
    struct tm_traffic traffic = tm_traffic_of(&t->chip);
    uint64_t written = traffic.write_bytes,
             read = traffic.read_bytes + t->chip.mem->smem_bytes;
    fprintf(f,
            "read, written      %llu, %llu bytes (%.1f GB/s asked for, %.1f of VRAM)\n",
            (unsigned long long)read, (unsigned long long)written,
            (double)(read + written) * per_us / 1000,
            (double)t->chip.mem->mall.misses * 128 * per_us / 1000);
    print_caches(t, f);
    if (tm_sample_part(t) < 1)
        print_sample(t, cycles, f);
}

static int by_offset(const void *a, const void *b)
{
    const struct tm_inst *const *x = a, *const *y = b;
    return (*x)->offset<(*y)->offset ? -1 : (*x)->offset>(*y)->offset;
}

/* Whose results it waited for, for one reason. */
static void print_blame(const struct tm_inst *i, unsigned why, FILE *f)
{
    const char *before = " of ";
    for (unsigned n = 0; n < i->n_blames; n++)
        if (i->blame[n].why == why) {
            fprintf(f, "%s%x", before, i->blame[n].from);
            before = "+";
        }
}

static void print_stalls(const struct tm_inst *i, FILE *f)
{
    bool shown[TM_STALLS] = {false};
    double times = tm_inst_times(i) ? (double)tm_inst_times(i) : 1;
    const char *before = "  ; ";
    for (;; before = ", ") {
        unsigned best = 0;
        for (unsigned s = 1; s < TM_STALLS; s++)
            if (!shown[s] && i->stall[s] > (best ? i->stall[best] : 0))
                best = s;
        if (!best)
            break;
        shown[best] = true;
        fprintf(f, "%s%s %.1f", before, tm_stall_name[best],
                (double)i->stall[best] / times);
        print_blame(i, best, f);
    }
    if (i->conflicts)
        fprintf(f, "%s%.1f conflict cycles", before, (double)i->conflicts / times);
}

/* How far a relative branch goes, from the instruction after it. */
static int branch_words(const struct emu_inst *inst)
{
    int16_t words;
    memcpy(&words, inst->host, sizeof words);
    return words;
}

static void print_line(const struct tm_inst *i, double all, FILE *f)
{
    char text[ISA_MAX_TEXT] = "(no instruction)";
    if (i->inst->kind != EMU_KIND_ILLEGAL)
        isa_print(&i->inst->isa, i->wave64 ? 64 : 32, 0, text);
    double cycles = (double)tm_inst_cycles(i), times = (double)tm_inst_times(i);
    double each = times > 0 ? cycles / times : 0;
    fprintf(f, "%08x %11llu %9.1f %5.1f%%  %s", i->offset,
            (unsigned long long)tm_inst_times(i), each,
            all > 0 ? 100 * cycles / all : 0, text);
    if (i->inst->isa.enc == ISA_ENC_SOPP &&
        isa_facts(i->inst->isa.op)->flow & ISA_FLOW_BRANCH)
        fprintf(f, " to %x", i->offset + 4 + 4 * (uint32_t)branch_words(i->inst));
    print_stalls(i, f);
    fputc('\n', f);
}

void tm_print_listing(const struct tm_engine *t, FILE *f)
{
    struct tm_inst **sorted = calloc(t->insts.numbers.n + 1, sizeof(*sorted));
    size_t n = t->insts.numbers.n;
    double all = 0;
    if (!sorted)
        return;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = t->insts.inst[i];
        all += (double)tm_inst_cycles(sorted[i]);
    }
    qsort(sorted, n, sizeof *sorted, by_offset);
    fputs(
        "  offset       times    cycles  of all  instruction  ; cycles it waited each "
        "time, for which results\n",
        f);
    for (size_t i = 0; i < n; i++)
        print_line(sorted[i], all, f);
    fprintf(f, "%20s %9.0f         wave cycles in all\n", "", all);
    free(sorted);
}
