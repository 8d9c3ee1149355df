#!/bin/sh
# with_module.sh WHAT PYTHON FOLDER SOURCE: run FOLDER/test_WHAT.py with a python that has the
# module it needs.
case $1 in
numpy | pytest) module=$1 ;;
*) module=ctypes ;;
esac
for python in "$2" /usr/bin/python3; do
    "$python" -c "import $module" 2>/dev/null || continue
    case $1 in
    pytest) exec "$python" -m pytest -q -p no:cacheprovider -p rdna3.pytest_plugin "$3/cases_pytest.py" ;;
    *) exec "$python" "$3/test_$1.py" "$4" ;;
    esac
done
echo "skipped: there is no python with $module"
exit 77
