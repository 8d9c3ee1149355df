# Runs when installing: appends to RDNA3_LIST those folders of RDNA3_PLACES (below the prefix,
# or absolute), and folders around them, that do not exist yet.
foreach(place ${RDNA3_PLACES})
    if(NOT IS_ABSOLUTE "${place}")
        set(place "${CMAKE_INSTALL_PREFIX}/${place}")
    endif()
    set(place "$ENV{DESTDIR}${place}")
    while(NOT EXISTS "${place}")
        file(APPEND "${RDNA3_LIST}" "${place}\n")
        get_filename_component(place "${place}" DIRECTORY)
    endwhile()
endforeach()
