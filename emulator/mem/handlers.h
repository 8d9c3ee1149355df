/* handlers.h: handlers of memory instructions that exist once (level.h has the others).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_HANDLERS_H
#define RD_HANDLERS_H

#include "uop.h"

sem_wave_fn x_smem, x_gds;
sem_wave_fn x_buffer_load, x_buffer_store, x_buffer_atomic, x_buffer_scalar,
    x_buffer_load_format, x_buffer_store_format;

#endif
