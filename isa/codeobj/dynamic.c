/* dynamic.c: the dynamic section of a linked object.
 *
 * Must not interpret what it points to. Invariant: an entry that the loader would have
 * to obey and cannot (REL, RELR) is an error here, never skipped.
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>

static rd_status take_entry(struct co_dynamic *d, uint64_t tag, uint64_t value,
                            struct co_error *err)
{
    switch (tag) {
    case DT_RELA_:
        d->rela = value;
        break;
    case DT_RELASZ_:
        d->rela_bytes = value;
        break;
    case DT_JMPREL_:
        d->jmprel = value;
        break;
    case DT_PLTRELSZ_:
        d->jmprel_bytes = value;
        break;
    case DT_SYMTAB_:
        d->symtab = value;
        break;
    case DT_STRTAB_:
        d->strtab = value;
        break;
    case DT_STRSZ_:
        d->str_bytes = value;
        break;
    case DT_HASH_:
        d->hash = value;
        break;
    case DT_RELAENT_:
        if (value != RELA_BYTES)
            return co_fail(err, RD_E_FORMAT,
                           "dynamic section: DT_RELAENT is %" PRIu64 ", expected %d",
                           value, RELA_BYTES);
        break;
    case DT_PLTREL_:
        if (value != DT_RELA_)
            return co_fail(err, RD_E_UNSUPPORTED,
                           "dynamic section: DT_PLTREL is %" PRIu64
                           ", expected %d (DT_RELA)",
                           value, DT_RELA_);
        break;
    case DT_REL_:
    case DT_RELR_:
        return co_fail(err, RD_E_UNSUPPORTED,
                       "dynamic section: %s relocations are not used by AMDGPU objects",
                       tag == DT_REL_ ? "DT_REL" : "DT_RELR");
    default:
        break;
    }
    return RD_OK;
}

rd_status co_read_dynamic(struct co_object *obj, struct co_error *err)
{
    const struct elf_header *h = &obj->header;
    if (obj->info.relocatable)
        return RD_OK;
    for (unsigned i = 0; i < h->phnum; i++) {
        struct elf_phdr ph = elf_phdr_at(obj->data, h, i);
        if (ph.type != PT_DYNAMIC_)
            continue;
        rd_status st = elf_check_phdr(&ph, i, obj->size, err);
        if (st != RD_OK)
            return st;
        obj->dynamic.present = true;
        for (uint64_t at = 0; ph.filesz - at >= DYN_BYTES; at += DYN_BYTES) {
            const uint8_t *p = obj->data + ph.offset + at;
            uint64_t tag = load_le64(p);
            if (tag == DT_NULL_)
                break;
            st = take_entry(&obj->dynamic, tag, load_le64(p + 8), err);
            if (st != RD_OK)
                return st;
        }
        return RD_OK;
    }
    return RD_OK;
}
