# Contents of buffers before a kernel that does nothing: fills, element types, files.
file end.bin 0000b0bf
file data.bin 000102030405060708090a0b
rdna3 run --raw end.bin --arg buf:20:iota=i16 --print 0:i16 --print 0:u8 --print 0:i16:3
rdna3 run --raw end.bin --arg buf:3:fill=0xff --print 0:i8 --print 0:u8 --print 0:u16
rdna3 run --raw end.bin --arg file:data.bin --print 0:u32 --print 0:u64
rdna3 run --raw end.bin --arg buf:16:file=data.bin --print 0:u32
rdna3 run --raw end.bin --arg buf:32:iota=f64 --print 0:f64
rdna3 run --raw end.bin --arg buf:32:rand=f32,1 --print 0:f32
rdna3 run --raw end.bin --arg buf:16:rand=f16,1 --print 0:f16
rdna3 run --raw end.bin --arg buf:32:rand=f64,1 --print 0:f64
rdna3 run --raw end.bin --arg buf:32:rand=i64,1 --print 0:i64
rdna3 run --raw end.bin --arg buf:4:fill=0x7f --print 0:f32
rdna3 run --raw end.bin --arg buf:4:fill=0xff --print 0:f32 --print 0:f16
rdna3 run --raw end.bin --arg buf:0 --print 0:f32
rdna3 run --raw end.bin --arg file:data.bin --out 0=copy.bin && cmp copy.bin data.bin
