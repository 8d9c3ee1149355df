// Weak symbols that nobody defines: what the loader looks for, what is 0, the order of
// the GOT. SPDX-License-Identifier: MIT
.text
.globl one
.p2align 8
.type one,@function
one:
  s_getpc_b64 s[2:3]
  s_add_u32 s2, s2, maybe@gotpcrel32@lo+4
  s_addc_u32 s3, s3, maybe@gotpcrel32@hi+12
  s_getpc_b64 s[2:3]
  s_add_u32 s2, s2, hid@rel32@lo+4
  s_addc_u32 s3, s3, hid@rel32@hi+12
  s_add_u32 s2, s2, hid@gotpcrel32@lo+4
  s_addc_u32 s3, s3, hid@gotpcrel32@hi+12
  s_getpc_b64 s[2:3]
  s_add_u32 s2, s2, one@gotpcrel32@lo+4
  s_addc_u32 s3, s3, one@gotpcrel32@hi+12
  s_add_u32 s2, s2, var@gotpcrel32@lo+4
  s_addc_u32 s3, s3, var@gotpcrel32@hi+12
  s_endpgm
.weak maybe
.weak other
.weak weakvar
.protected prot
.weak prot
.globl var
.type var,@object
.hidden hid
.weak hid
.data
.quad maybe
weakvar:
.quad other+8
.quad hid
.quad hid+5
.quad prot
.quad one
.quad weakvar
var:
.quad var+4
.quad maybe+16
.section .rodata,"a"
.p2align 6
.amdhsa_kernel one
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
.section .debug_x,"",@progbits
.quad maybe+3
.quad hid+3
.long hid+3
.section .debug_ranges,"",@progbits
.quad maybe+3
.section .other,"",@progbits
.quad maybe+3
