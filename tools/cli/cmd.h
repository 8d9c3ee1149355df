/* cmd.h: the subcommands. Each gets its own name as argv[0] and returns the process's
 * exit status (enum cli_exit).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CMD_H
#define RD_CMD_H

int cmd_run(int argc, char **argv);
int cmd_asm(int argc, char **argv);
int cmd_dis(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_device(int argc, char **argv);
int cmd_debug(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_timing(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_compile(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_doc(int argc, char **argv);

#endif
