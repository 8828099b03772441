# Writes the version's source file, where it changed: cmake -DSOURCE=... -DOUTPUT=... -DVERSION=... -P
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --dirty=-modified --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
    set(commit "")
endif()
set(text "#include \"sim/stats/version.h\"
namespace lockstep::stats {
std::string_view version() { return \"${VERSION}\"; }
std::string_view commit() { return \"${commit}\"; }
}
")
if(EXISTS ${OUTPUT})
    file(READ ${OUTPUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
    file(WRITE ${OUTPUT} "${text}")
endif()
