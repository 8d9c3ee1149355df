/* excp.h: float exceptions, for the predecoder.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_EXCP_H
#define RD_EXCP_H

#include "wave.h"

/* What uop.excp must hold for an operation; 0 if it raises nothing. */
unsigned excp_of(const struct sem_entry *e, bool clamp);

/* The handler of an instruction that may raise float exceptions. */
sem_wave_fn x_excp;

#endif
