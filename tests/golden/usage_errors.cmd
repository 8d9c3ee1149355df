# Wrong usage ends with exit status 2 and one line that names the word.
rdna3 2>&1 >/dev/null
rdna3 frobnicate
rdna3 run
rdna3 run --bogus k.elf
rdna3 run -x k.elf
rdna3 run k.elf --grid
rdna3 run k.elf --stats=3
rdna3 run k.elf another
rdna3 run k.elf --raw code.bin
rdna3 run k.elf --kd kd.bin
rdna3 run k.elf --entry-offset 256
rdna3 run --raw code.bin --kernel k
rdna3 run k.elf --grid 0
rdna3 run k.elf --grid 1,2,3,4
rdna3 run k.elf --grid 4294967296
rdna3 run k.elf --grid 1x
rdna3 run k.elf --block -1
rdna3 run k.elf --wave 16
rdna3 run k.elf --wave
rdna3 run k.elf --dynamic-lds 64K1
rdna3 run k.elf --dynamic-lds 65537
rdna3 run k.elf --threads many
rdna3 run k.elf --threads 100000
rdna3 run k.elf --seed 99999999999999999999
rdna3 run k.elf --engine warp
rdna3 run k.elf --simd sse
rdna3 run k.elf --trace-operands
rdna3 run k.elf --timing
rdna3 run k.elf --timing-json t
rdna3 run k.elf --keep-going
rdna3 run k.elf --check-json f.json --seed 1
rdna3 run k.elf --out 0
rdna3 run k.elf --out x=y
rdna3 run k.elf --out 0=
rdna3 run k.elf --out 0=out.bin
rdna3 run k.elf --arg i32:1 --out 0=out.bin
rdna3 run k.elf --arg i32:1 --print 0:i32
rdna3 run k.elf --arg buf:16 --print 0
rdna3 run k.elf --arg buf:16 --print 0:f8
rdna3 run k.elf --arg buf:16 --print 0:i32:5
rdna3 run k.elf --arg buf:16 --print 0:i32:x
rdna3 run k.elf --arg buf:16 --print 1:i32
rdna3 bench nonsense
rdna3 bench timing/nonsense
rdna3 bench --bogus
rdna3 info extra
rdna3 doc
