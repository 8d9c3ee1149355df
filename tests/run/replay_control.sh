#!/bin/sh
# The control of replay.py: outputs that are all zero must not pass.
#   replay_control.sh PYTHON RDNA3 FOLDER
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/rdna3" <<END
#!/bin/sh
"$2" "\$@" || exit
for word in "\$@"; do
    case \$word in
    ?=/*) size=\$(stat -c %s "\${word#*=}") && head -c "\$size" /dev/zero >"\${word#*=}" ;;
    esac
done
END
chmod +x "$tmp/rdna3"
for group in insn_vop3p kern_dtype; do
    out=$("$1" "$(dirname "$0")/replay.py" --rdna3 "$tmp/rdna3" "$3/$group.jsonl.gz" | tail -n 1)
    echo "$group: $out"
    case $out in
    *" 0 failed" | "") exit 1 ;;
    esac
done
