// Frames of every kind: how code is to be unwound, in both tables.
.cfi_sections .eh_frame, .debug_frame
k:
  .cfi_startproc
  s_nop 0
  .cfi_def_cfa 64, 16
  s_nop 1
  .cfi_def_cfa_offset 32
  .cfi_offset 32, -8
  .cfi_offset 65, -16
  .cfi_rel_offset 34, 8
  .cfi_adjust_cfa_offset 16
  .cfi_def_cfa_register 65
  .rept 70
  s_nop 2
  .endr
  .cfi_undefined 16
  .cfi_same_value 17
  .cfi_register 16, 2560
  .cfi_restore 32
  .cfi_restore 65
  .cfi_remember_state
  .rept 300
  s_nop 2
  .endr
  .cfi_restore_state
  .cfi_escape 0x10, 0x01, 0x02
  .cfi_escape 1
  .cfi_window_save
  .rept 17000
  s_nop 2
  .endr
  s_endpgm
  .cfi_endproc
k2:
  .cfi_startproc simple
  s_endpgm
  .cfi_return_column 5
  .cfi_signal_frame
  .cfi_endproc
k3:
  .cfi_startproc
  .cfi_personality 0x1b, pers
  .cfi_lsda 0x1b, lsda
  s_endpgm
  .cfi_endproc
k4:
  .cfi_startproc
  .cfi_personality 0x0, pers
  .cfi_lsda 0x0, lsda
  s_endpgm
  .cfi_endproc
k5:
  .cfi_startproc
  s_endpgm
  .cfi_endproc
k6:
  .cfi_startproc
  .cfi_same_value s3
  .cfi_same_value s70
  .cfi_same_value v3
  .cfi_same_value exec
  .cfi_same_value exec_lo
  .cfi_llvm_def_aspace_cfa 64, 8, 6
  .cfi_rel_offset v255, 0
  .cfi_personality 0xff
  s_endpgm
  .cfi_endproc
.section .text.other,"ax",@progbits
k7:
  .cfi_startproc
  .cfi_personality 0x1b, aaa
  s_endpgm
  .cfi_endproc
.data
lsda: .long 0
