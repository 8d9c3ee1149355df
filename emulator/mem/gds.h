/* gds.h: the global data share, for the predecoder.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GDS_H
#define RD_GDS_H

#include "wave.h"

#define GDS_BYTES 4096u /* manual 1.2.2.2 */

/* The handler of a data-share instruction with the GDS bit. */
sem_wave_fn x_gds;

#endif
