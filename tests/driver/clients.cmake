# rd_client_test(NAME [SANITIZED] SCRIPT [ARGUMENT...]): a test that runs real programs on
# the mock. Those of our own also run where everything is built with sanitizers
# (SANITIZED): the library that `rdna3 exec` preloads then brings the sanitizer's runtime
# along, also into programs that were built without. Debian's programs run in other builds.
set(RDNA3_CLIENT_SANITIZERS
    ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:handle_segv=1:exitcode=99
    TSAN_OPTIONS=exitcode=99:report_signal_unsafe=0)
function(rd_client_test name)
    cmake_parse_arguments(T "SANITIZED" "" "" ${ARGN})
    if(RDNA3_SANITIZE AND NOT T_SANITIZED)
        return()
    endif()
    list(POP_FRONT T_UNPARSED_ARGUMENTS script)
    add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${script}
        ${T_UNPARSED_ARGUMENTS})
    set(labels clients)
    if(RDNA3_SANITIZE MATCHES thread)
        list(APPEND labels threads)
    endif()
    set(env RT_SUITE=${CMAKE_BINARY_DIR}/tests/driver/rt_suite
        RDNA3_BIN=$<TARGET_FILE:rdna3> RDNA3_CLIENTS=${RDNA3_CLIENTS})
    if(RDNA3_SANITIZE)
        list(APPEND env ${RDNA3_CLIENT_SANITIZERS})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77
        TIMEOUT 900 RESOURCE_LOCK clients ENVIRONMENT "${env}")
endfunction()
