# rd_client_test(NAME [SANITIZED] [THREADS] SCRIPT [ARGUMENT...]): a test that runs real
# programs on the mock. Those of our own also run where everything is built with the
# address sanitizer (SANITIZED), or the thread sanitizer (THREADS; each program must be
# built with it): the library that `rdna3 exec` preloads brings the sanitizer's runtime
# along. Debian's programs run in other builds.
set(RDNA3_CLIENT_SANITIZERS
    ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:exitcode=99
    # its own handlers would go through the library's sigaction before it is set up
    TSAN_OPTIONS=exitcode=99:report_signal_unsafe=0:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:suppressions=${CMAKE_CURRENT_LIST_DIR}/tsan.supp)
function(rd_client_test name)
    cmake_parse_arguments(T "SANITIZED;THREADS" "" "" ${ARGN})
    set(wanted TRUE)
    set(labels clients)
    if(RDNA3_SANITIZE MATCHES thread)
        set(wanted ${T_THREADS})
        list(APPEND labels threads)
    elseif(RDNA3_SANITIZE)
        set(wanted ${T_SANITIZED})
    endif()
    if(NOT wanted)
        return()
    endif()
    list(POP_FRONT T_UNPARSED_ARGUMENTS script)
    add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${script}
        ${T_UNPARSED_ARGUMENTS})
    set(env RT_SUITE=${CMAKE_BINARY_DIR}/tests/driver/rt_suite
        RDNA3_BIN=$<TARGET_FILE:rdna3> RDNA3_CLIENTS=${RDNA3_CLIENTS})
    if(RDNA3_SANITIZE)
        list(APPEND env ${RDNA3_CLIENT_SANITIZERS})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77
        TIMEOUT 900 RESOURCE_LOCK clients ENVIRONMENT "${env}")
endfunction()
