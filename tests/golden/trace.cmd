# Recording and asking, on a kernel whose every event is known.
build t.hsaco trace.s
rdna3 run t.hsaco --block 64 --arg buf:256:iota=u32 --arg buf:256 --trace t.trace --trace-operands
rdna3 trace t.trace --summary | sed 's/  [0-9.]* bytes each in the file//'
rdna3 trace t.trace --wave 1
rdna3 trace t.trace --wave 0 --reg v2
rdna3 trace t.trace --addr lds:0x84 --count 4
rdna3 trace t.trace --pc 0-4 --op s_load
rdna3 trace t.trace --who-wrote v2 --wave 0 --lane 3
rdna3 trace t.trace --who-wrote v2
rdna3 trace t.trace --who-wrote lds:0x10
rdna3 trace t.trace --who-wrote s90
rdna3 trace t.trace --from 10 --count 1
rdna3 run t.hsaco --block 64 --arg buf:256:iota=u32 --arg buf:256 --trace u.trace --seed 1
rdna3 trace t.trace --diff u.trace
rdna3 run t.hsaco --block 64 --arg buf:256:fill=1 --arg buf:256 --trace v.trace --trace-operands
rdna3 trace t.trace --diff v.trace --context 1
rdna3 trace u.trace --diff v.trace
rdna3 trace t.trace --wave 0 --chrome t.json
python3 -c 'import json; e = json.load(open("t.json"))["traceEvents"]; print(len(e), e[0], e[1])'
# What is no trace, or not all of one.
rdna3 trace
rdna3 trace missing.trace
rdna3 trace t.hsaco
rdna3 trace .
head -c 12 t.trace >cut.trace; rdna3 trace cut.trace
head -c 200 t.trace >cut.trace; rdna3 trace cut.trace
head -c -20 t.trace >cut.trace; rdna3 trace cut.trace
head -c -16 t.trace >cut.trace; rdna3 trace cut.trace --count 1
head -c -16 t.trace >cut.trace; rdna3 trace cut.trace 2>&1 >list | sed 's/byte [0-9]*/byte N/'; wc -l <list
(cat t.trace; echo) >long.trace; rdna3 trace long.trace 2>&1 >list | sed 's/byte [0-9]*/byte N/'
rdna3 trace t.trace --reg v256
rdna3 trace t.trace --addr 5-3
rdna3 trace t.trace --pc 0x10000000000000000
rdna3 trace t.trace --workgroup x
rdna3 trace t.trace --who-wrote nothing
rdna3 trace t.trace --summary --diff t.trace
rdna3 run t.hsaco --block 64 --arg buf:256 --arg buf:256 --trace nowhere/t.trace
