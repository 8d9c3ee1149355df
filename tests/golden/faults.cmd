# Guest faults: exit status 1 and one line with kind, place, instruction, nearest memory.
build f.hsaco faults.s
rdna3 run f.hsaco --kernel illegal
rdna3 run f.hsaco --kernel null_load
rdna3 run f.hsaco --kernel past_the_end --block 32 --arg buf:16
rdna3 run f.hsaco --kernel past_the_end --block 32 --arg i64:0
rdna3 run f.hsaco --kernel store_to_kernargs --arg i32:1
rdna3 run f.hsaco --kernel misaligned_atomic --arg buf:16
rdna3 run f.hsaco --kernel lds_range --block 32
rdna3 run f.hsaco --kernel lds_range --block 16
rdna3 run f.hsaco --kernel scratch_range
rdna3 run f.hsaco --kernel branch_away
rdna3 run f.hsaco --kernel branch_not_taken --check all
rdna3 run f.hsaco --kernel branch_not_taken --timing >timing.txt
rdna3 run f.hsaco --kernel jump_to_null
rdna3 run f.hsaco --kernel trap
rdna3 run f.hsaco --kernel unsupported
rdna3 run f.hsaco --kernel second_wave --block 64 --grid 3
rdna3 run f.hsaco --kernel no_end
# Nothing is written when a kernel fails.
rdna3 run f.hsaco --kernel past_the_end --block 32 --arg buf:16 --out 0=out.bin; ls
