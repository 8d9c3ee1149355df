/* options.c: the options of checking: which checkers, what becomes of findings.
 *
 * Must not know how kernels are run. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "cli.h"

void checks_print_classes(void)
{
    for (unsigned c = 0; c < CK_CLASSES; c++)
        if (ck_classes_built() & CK_BIT(c))
            printf("      %-7s %s\n", ck_class_name(c), ck_class_text(c));
}

static int take_class(struct checks_options *o, const char *name, size_t len)
{
    if (len == 3 && memcmp(name, "all", 3) == 0) {
        o->classes |= ck_classes_usual();
        return CLI_OK;
    }
    for (unsigned c = 0; c < CK_CLASSES; c++) {
        if (strlen(ck_class_name(c)) != len || memcmp(ck_class_name(c), name, len) != 0)
            continue;
        if (!(ck_classes_built() & CK_BIT(c)))
            return cli_error(CLI_USAGE, "--check: the checker '%s' is not built yet",
                             ck_class_name(c));
        o->classes |= CK_BIT(c);
        return CLI_OK;
    }
    return cli_error(CLI_USAGE, "--check: there is no checker '%.*s'", (int)len, name);
}

static int take_list(struct checks_options *o, const char *text)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        int status = take_class(o, at, len);
        if (status != CLI_OK)
            return status;
        at += len;
        if (!*at)
            return CLI_OK;
    }
}

static int take_number(struct checks_options *o, int option, const char *name,
                       const char *text)
{
    uint64_t value = 0;
    rd_status st = cli_parse_u64(text, &value);
    if (st == RD_OK && ((option == CHECKS_OPT_ERROR_EXIT && value > 255) ||
                        (option == CHECKS_OPT_WATCHDOG && !value)))
        st = RD_E_RANGE;
    if (st != RD_OK)
        return cli_error(CLI_USAGE, "--%s '%s': %s", name, text,
                         st == RD_E_RANGE ? "out of range" : "not a number");
    if (option == CHECKS_OPT_ERROR_EXIT) {
        o->error_exit = (int)value;
    } else if (option == CHECKS_OPT_HAZARD) {
        o->hazard = true;
        o->hazard_seed = value;
    } else if (option == CHECKS_OPT_SEED) {
        o->seed = value;
    } else {
        o->watchdog = value;
    }
    return CLI_OK;
}

int checks_option(struct checks_options *o, int option, const char *name,
                  const char *text)
{
    if (option == CHECKS_OPT_LIST)
        return take_list(o, text);
    o->given = name;
    switch (option) {
    case CHECKS_OPT_KEEP_GOING:
        o->keep_going = true;
        return CLI_OK;
    case CHECKS_OPT_LANES:
        o->lanes = true;
        return CLI_OK;
    case CHECKS_OPT_JSON:
        o->json = text;
        return CLI_OK;
    case CHECKS_OPT_XML:
        o->xml = text;
        return CLI_OK;
    case CHECKS_OPT_SARIF:
        o->sarif = text;
        return CLI_OK;
    case CHECKS_OPT_GEN_SUPPRESSIONS:
        o->gen_suppressions = text;
        return CLI_OK;
    case CHECKS_OPT_SUPPRESSIONS:
        if (o->n_suppressions == CHECKS_FILES)
            return cli_error(CLI_USAGE, "--%s: at most %u files", name, CHECKS_FILES);
        o->suppressions[o->n_suppressions++] = text;
        return CLI_OK;
    default:
        return take_number(o, option, name, text);
    }
}
