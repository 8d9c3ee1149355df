# rd_client_test(NAME SCRIPT [ARGUMENT...]): a test that runs real programs on the mock.
function(rd_client_test name)
    if(RDNA3_SANITIZE) # the sanitizer's runtime must be the first library of a process
        add_test(NAME ${name} COMMAND
            sh -c "echo 'skipped: a sanitized library cannot be preloaded'; exit 77")
        set_tests_properties(${name} PROPERTIES LABELS clients SKIP_RETURN_CODE 77)
        return()
    endif()
    add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 900
        RESOURCE_LOCK clients
        ENVIRONMENT "RT_SUITE=${CMAKE_CURRENT_BINARY_DIR}/rt_suite;RDNA3_BIN=$<TARGET_FILE:rdna3>;RDNA3_SHARED=${RDNA3_SHARED};RDNA3_CLIENTS=${RDNA3_CLIENTS}")
endfunction()
