/* report.c: what a run cost: the timing file, a summary, an annotated listing.
 *
 * Reads the engine's accounts, changes nothing. SPDX-License-Identifier: MIT
 */
#include "engine.h"

static int by_start(const void *a, const void *b)
{
    const struct tm_record *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : 0;
}

uint64_t tm_span_cycles(const struct tm_engine *t)
{
    int64_t span = 0;
    for (unsigned s = 0; s < t->n_ses; s++)
        if (t->se[s].first_start >= 0)
            span = tm_max(span, t->se[s].last_end - t->se[s].first_start);
    if (t->end_group < t->launch.n_groups && t->end_group)
        span =
            (int64_t)((double)span * (double)t->launch.n_groups / (double)t->end_group);
    return (uint64_t)span;
}

struct use {
    double valu, lds, busy;
    uint64_t l0_hit, l0_miss, gl1_hit, gl1_miss, i_hit, i_miss, s_hit, s_miss;
};

static struct use measure(const struct tm_engine *t)
{
    struct use u = {0};
    double valu = 0, held = 0, lds = 0, cu_held = 0;
    for (size_t i = 0; i < (size_t)t->n_ses * t->wgps_per_se; i++) {
        const struct tm_wgp *g = &t->wgps[i];
        u.busy += (double)g->busy_cycles;
        u.i_hit += g->icache.hits;
        u.i_miss += g->icache.misses;
        u.s_hit += g->scache.hits;
        u.s_miss += g->scache.misses;
        for (unsigned c = 0; c < 2; c++) {
            const struct tm_cu *cu = &g->cu[c];
            u.l0_hit += cu->l0.hits;
            u.l0_miss += cu->l0.misses;
            lds += (double)cu->lds_cycles;
            cu_held += (double)cu->held;
            for (unsigned s = 0; s < 2; s++) {
                valu += (double)cu->simd[s].valu_cycles;
                held += (double)cu->simd[s].held;
            }
        }
    }
    for (unsigned s = 0; s < t->n_ses; s++)
        for (unsigned a = 0; a < 4; a++) {
            u.gl1_hit += t->se[s].gl1[a].hits;
            u.gl1_miss += t->se[s].gl1[a].misses;
        }
    u.valu = held > 0 ? 100 * valu / held : 0;
    u.lds = cu_held > 0 ? 100 * lds / cu_held : 0;
    return u;
}

static void write_wave(const struct tm_engine *t, const struct tm_record *r, FILE *f)
{
    fprintf(f,
            "{\"wg\": [%u, %u, %u], \"wave\": %u, \"se\": %u, \"sa\": %u, \"wgp\": %u, "
            "\"simd\": %u, \"slot\": %u, \"start\": %lld, \"end\": %lld",
            r->wg[0], r->wg[1], r->wg[2], r->wave, r->se, r->sa, r->wgp, r->simd,
            r->slot, (long long)r->start, (long long)r->end);
    if (r->n_insts) {
        fputs(", \"insts\": [", f);
        for (size_t i = 0; i < r->n_insts; i++)
            fprintf(f, "%s[%u, %lld]", i ? ", " : "", r->insts[i].offset,
                    (long long)r->insts[i].t);
        fputc(']', f);
    }
    fputc('}', f);
    (void)t;
}

void tm_write_json(const struct tm_engine *t, FILE *f)
{
    struct use u = measure(t);
    fprintf(f, "{\"sclk_mhz\": %g, \"span_cycles\": %llu,\n\"waves\": [",
            t->config.sclk_mhz, (unsigned long long)tm_span_cycles(t));
    qsort(t->records, t->n_records, sizeof *t->records, by_start);
    for (size_t i = 0; i < t->n_records; i++) {
        fputs(i ? ",\n" : "\n", f);
        write_wave(t, &t->records[i], f);
    }
    fprintf(f,
            "],\n\"counters\": {\"SQ_INSTS_VALU\": %llu, \"SQ_INSTS_SALU\": %llu, "
            "\"SQC_LDS_IDX_ACTIVE\": %llu, \"SQC_LDS_BANK_CONFLICT\": %llu, "
            "\"GL2C_HIT\": %llu, \"GL2C_MISS\": %llu, \"SQ_BUSY_CYCLES\": %.0f},\n",
            (unsigned long long)t->n_valu, (unsigned long long)t->n_salu,
            (unsigned long long)t->lds_active, (unsigned long long)t->lds_conflict,
            (unsigned long long)t->gl2_hit, (unsigned long long)t->gl2_miss, u.busy);
    fprintf(f, "\"util\": {\"valu\": %.1f, \"lds\": %.1f}", u.valu, u.lds);
    if (t->end_group < t->launch.n_groups)
        fprintf(f, ", \"sample\": {\"workgroups\": %llu, \"of\": %llu}",
                (unsigned long long)t->end_group,
                (unsigned long long)t->launch.n_groups);
    fputs("}\n", f);
}

static double rate(uint64_t hits, uint64_t misses)
{
    return hits + misses ? 100.0 * (double)hits / (double)(hits + misses) : 0;
}

void tm_print_summary(const struct tm_engine *t, FILE *f)
{
    struct use u = measure(t);
    double cycles = (double)tm_span_cycles(t), us = cycles / t->config.sclk_mhz;
    unsigned by_vgpr =
        t->vgprs_alloc ? (unsigned)t->p.vgprs_per_simd / t->vgprs_alloc : 0;
    unsigned by_slot = (unsigned)t->p.slots_per_simd;
    unsigned by_lds = by_slot;
    if (t->lds_alloc)
        by_lds =
            ((unsigned)t->p.lds_per_cu / t->lds_alloc * t->waves_per_group + 1) / 2;
    const char *limit = by_lds < by_vgpr && by_lds < by_slot ? "LDS"
                        : by_vgpr < by_slot                  ? "VGPRs"
                                                             : "wave slots";
    unsigned occupancy = by_lds < by_vgpr ? by_lds : by_vgpr;
    if (occupancy > by_slot)
        occupancy = by_slot;
    fprintf(f, "cycles             %.0f (%.3f us at %g MHz)\n", cycles, us,
            t->config.sclk_mhz);
    fprintf(f, "waves              %zu, at most %llu at once\n", t->n_records,
            (unsigned long long)t->peak_waves);
    fprintf(f, "occupancy          %u waves per SIMD, limited by %s\n", occupancy,
            limit);
    fprintf(f, "instructions       %llu, %.3f per SIMD cycle\n",
            (unsigned long long)t->n_insts,
            cycles > 0 ? (double)t->n_insts / cycles : 0);
    fprintf(f, "VALU busy          %.1f %%\n", u.valu);
    fprintf(f, "LDS busy           %.1f %%, %llu of %llu cycles in bank conflicts\n",
            u.lds, (unsigned long long)t->lds_conflict,
            (unsigned long long)t->lds_active);
    fprintf(f, "read, written      %llu, %llu bytes (%.1f GB/s)\n",
            (unsigned long long)t->read_bytes, (unsigned long long)t->write_bytes,
            us > 0 ? (double)(t->read_bytes + t->write_bytes) / us / 1000 : 0);
    fprintf(f,
            "hit rates          L0 %.1f %%, GL1 %.1f %%, GL2 %.1f %%, scalar %.1f %%, "
            "code %.1f %%\n",
            rate(u.l0_hit, u.l0_miss), rate(u.gl1_hit, u.gl1_miss),
            rate(t->gl2_hit, t->gl2_miss), rate(u.s_hit, u.s_miss),
            rate(u.i_hit, u.i_miss));
    if (t->end_group < t->launch.n_groups)
        fprintf(f, "sampled            %llu of %llu workgroups, scaled\n",
                (unsigned long long)t->end_group,
                (unsigned long long)t->launch.n_groups);
}

static int by_offset(const void *a, const void *b)
{
    const struct tm_inst *const *x = a, *const *y = b;
    return (*x)->offset<(*y)->offset ? -1 : (*x)->offset>(*y)->offset;
}

static void print_stalls(const struct tm_inst *i, FILE *f)
{
    bool shown[TM_STALLS] = {false};
    for (unsigned n = 0; n < 3; n++) {
        unsigned best = 0;
        for (unsigned s = 1; s < TM_STALLS; s++)
            if (!shown[s] && i->stall[s] > (best ? i->stall[best] : 0))
                best = s;
        if (!best)
            return;
        shown[best] = true;
        fprintf(f, "%s %s %.1f", n ? "," : "  ;", tm_stall_name[best],
                (double)i->stall[best] / (double)(i->executions ? i->executions : 1));
    }
}

void tm_print_listing(const struct tm_engine *t, FILE *f)
{
    struct tm_inst **sorted = calloc(t->cap_insts + 1, sizeof *sorted);
    size_t n = 0;
    if (!sorted)
        return;
    for (size_t i = 0; i < t->cap_insts; i++)
        if (t->insts[i])
            sorted[n++] = t->insts[i];
    qsort(sorted, n, sizeof *sorted, by_offset);
    fprintf(
        f,
        "  offset       times   cycles  instruction  ; waited for, cycles each time\n");
    for (size_t i = 0; i < n; i++) {
        char text[ISA_MAX_TEXT] = "(no instruction)";
        if (sorted[i]->inst->kind != EMU_KIND_ILLEGAL)
            isa_print(&sorted[i]->inst->isa, t->launch.lanes, 0, text);
        double each = sorted[i]->executions
                          ? (double)sorted[i]->cycles / (double)sorted[i]->executions
                          : 0;
        fprintf(f, "%08x %11llu %8.1f  %s", sorted[i]->offset,
                (unsigned long long)sorted[i]->executions, each, text);
        print_stalls(sorted[i], f);
        fputc('\n', f);
    }
    free(sorted);
}
