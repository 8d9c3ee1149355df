/* isagen.c: AMD's ISA XML + supplement + fact sheet -> isa/tables.
 *
 *   isagen ISA.xml SUPPLEMENT FACTS OUTPUT-FOLDER
 *   isagen --lenient ISA.xml SUPPLEMENT OUTPUT-FOLDER
 *
 * --lenient is for ISAs other than the supplement's own: what it does not name is
 * reported and left out, and there are no facts.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "model.h"
#include "sheet.h"

int main(int argc, char **argv)
{
    bool lenient = argc > 1 && strcmp(argv[1], "--lenient") == 0;
    char **args = argv + 1 + lenient;
    if (argc - 1 - lenient != (lenient ? 3 : 4)) {
        fprintf(stderr, "usage: isagen ISA.xml SUPPLEMENT FACTS FOLDER\n"
                        "       isagen --lenient ISA.xml SUPPLEMENT FOLDER\n");
        return 2;
    }
    struct gx_isa isa;
    struct gs_supplement supp;
    struct gm_model model;
    gx_read(args[0], &isa);
    gs_read(args[1], &supp);
    gm_build(&isa, &supp, lenient, &model);
    if (lenient) {
        fprintf(stderr, "isagen: note: no facts of %s: facts.inc is not written\n",
                isa.architecture);
        gm_emit(&model, args[2]);
    } else {
        struct gf_sheet sheet;
        gf_read(args[2], &sheet);
        gf_check(&model, &sheet);
        gm_emit(&model, args[3]);
        gf_emit(&model, &sheet, args[3]);
    }
    fprintf(stderr, "isagen: %s: %zu instructions, %zu rows, %zu aliases\n",
            isa.architecture, model.n_ops, model.n_rows, model.n_aliases);
    gen_arena_free();
    return 0;
}
