# Writes sources.cpp: each page and lab of PAGES (a file with a path a line) and each of ASSETS as a
# literal, each of PICTURES in base64.
function(literals out folder)
    set(text "")
    foreach(path ${ARGN})
        file(READ ${folder}/${path} content)
        string(APPEND text "    {\"${path}\", R\"lockstep_docs(${content})lockstep_docs\"},\n")
    endforeach()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

file(STRINGS ${PAGES} pages)
set(labs ${pages})
list(FILTER labs INCLUDE REGEX "[.]yaml$")
list(FILTER pages EXCLUDE REGEX "[.]yaml$")
literals(page_rows ${ROOT} ${pages})
literals(lab_rows ${ROOT} ${labs})
literals(asset_rows ${ROOT}/sim/docs ${ASSETS})
set(picture_rows "")
foreach(path ${PICTURES})
    execute_process(COMMAND base64 -w 0 ${ROOT}/${path} OUTPUT_VARIABLE content COMMAND_ERROR_IS_FATAL ANY)
    string(APPEND picture_rows "    {\"${path}\", \"${content}\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"sim/docs/source.h\"
namespace lockstep::docs {
namespace {
constexpr Source kPages[] = {
${page_rows}};
constexpr Source kLabs[] = {
${lab_rows}};
constexpr Source kAssets[] = {
${asset_rows}};
constexpr Source kPictures[] = {
${picture_rows}};
}
std::span<const Source> pages() { return kPages; }
std::span<const Source> labs() { return kLabs; }
std::span<const Source> assets() { return kAssets; }
std::span<const Source> pictures() { return kPictures; }
}
")
