# The kernels of files: what they need, what they take.
build a.hsaco reduce.cl
build b.hsaco two_kernels.cl
rdna3 info a.hsaco b.hsaco | sed 's/[0-9]* VGPRs, [0-9]* SGPRs/N registers/; s/[0-9]* of code/N of code/'
rdna3 info --timing a.hsaco
rdna3 info /dev/null
