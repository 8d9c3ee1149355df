/* buffer.h: handlers of buffer instructions.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_BUFFER_H
#define RD_BUFFER_H

#include "wave.h"

sem_wave_fn x_buffer_load, x_buffer_store, x_buffer_atomic, x_buffer_scalar,
    x_buffer_load_format, x_buffer_store_format;

#endif
