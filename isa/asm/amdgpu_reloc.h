/* amdgpu_reloc.h: relocation types of EM_AMDGPU, which <elf.h> lacks.
 * Source: LLVM AMDGPUUsage, "Relocation Records".
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_AMDGPU_RELOC_H
#define RD_AMDGPU_RELOC_H

#define R_AMDGPU_NONE          0
#define R_AMDGPU_ABS32_LO      1
#define R_AMDGPU_ABS32_HI      2
#define R_AMDGPU_ABS64         3
#define R_AMDGPU_REL32         4
#define R_AMDGPU_REL64         5
#define R_AMDGPU_ABS32         6
#define R_AMDGPU_GOTPCREL      7
#define R_AMDGPU_GOTPCREL32_LO 8
#define R_AMDGPU_GOTPCREL32_HI 9
#define R_AMDGPU_REL32_LO      10
#define R_AMDGPU_REL32_HI      11
#define R_AMDGPU_RELATIVE64    13
#define R_AMDGPU_REL16         14

#define EM_AMDGPU_          224
#define ELFOSABI_AMDGPU_HSA 64
#define EF_AMDGPU_GFX1100   0x41u
#define EF_AMDGPU_GFX1103   0x44u
#define EF_AMDGPU_GFX1101   0x46u
#define EF_AMDGPU_GFX1102   0x47u
#define SHN_AMDGPU_LDS      0xff00u

#endif
