/* rdna3.h: all of librdna3: an emulator of AMD's RDNA3 GPUs (gfx1100) as a library.
 * SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_H
#define RDNA3_H

#include "rdna3/base.h"
#include "rdna3/isa.h"
#include "rdna3/object.h"
#include "rdna3/device.h"
#include "rdna3/observe.h"
#include "rdna3/timing.h"
#include "rdna3/check.h"

#endif
