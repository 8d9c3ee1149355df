// A file that holds no byte: numbers and the names of others.
.set number, 5
.globl number
.weak absent
.set last, alignto(number, 4)
