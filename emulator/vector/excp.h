/* excp.h: float exceptions.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_EXCP_H
#define RD_EXCP_H

#include "uop.h"

/* The handler of an instruction that may raise float exceptions. */
sem_wave_fn x_excp;

#endif
