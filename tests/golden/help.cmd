# Help of the program and of its commands.
rdna3 --help
rdna3 --version | sed "s, (.*,,"
rdna3 run --help
rdna3 check --help
rdna3 device --help
rdna3 debug --help
rdna3 bench --help
rdna3 bench --list
rdna3 info --help
rdna3 doc --help
