# Kernels in UOps: what is refused, naming line, node and rule, and leaves no file.
rdna3 compile --help
printf '%%0 = PARAM f32 [0, 4]\n%%1 = CONST f32 [1]\n%%2 = ADD %%0 %%1\n' > a.uop; rdna3 compile a.uop -o a.elf; ls
rdna3 compile a.uop --emit uops
printf '%%0 = PARAM f32 [0, 4]\n%%1 = PARAM i32 [0, 4]\n%%2 = CAST f32 %%1\n%%3 = STORE %%0 %%2\n%%4 = SINK %%3\n' > a.uop; rdna3 compile a.uop --emit asm
printf '%%0 = PARAM f32 [0, 4]\n%%1 = BUFFER f32 [local, 0, 20000]\n%%c = CONST f32 [1]\n%%2 = STORE %%1 %%c\n%%4 = SINK %%2\n' > a.uop; rdna3 compile a.uop --emit c
printf 'program "p"\n%%0 = PARAM f32 [0, 4]\n%%1 = RANGE i32 %%0 [0, loop]\n' > a.uop; rdna3 compile a.uop --emit prog
printf '%%a = ADD i32 %%b %%b\n%%b = NEG i32 %%a\n' > a.uop; rdna3 compile a.uop --emit asm
printf '%%0 = PARAM f32 [0, 4]\n%%1 = PARAM f32 [1, 5]\n%%2 = ADD %%0 %%1\n' > a.uop; rdna3 compile a.uop --emit asm
printf '%%0 = FROB f32\n' | rdna3 compile /dev/stdin --emit c
rdna3 compile
rdna3 compile missing.uop
rdna3 compile a.uop --emit frob
