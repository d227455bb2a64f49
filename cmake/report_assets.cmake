# The fixed parts of the report page become string constants of tandem_report, so that the program needs no files
# beside it. Run as a script (-DOUT=... -DINPUTS=name=path|name=path...) it writes them.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "#include \"report/page/assets.h\"\n\nnamespace tandem::assets {\n")
  string(REPLACE "|" ";" inputs "${INPUTS}")
  foreach(input ${inputs})
    string(REGEX MATCH "^([a-z_]+)=(.*)$" _ "${input}")
    set(name ${CMAKE_MATCH_1})
    file(READ "${CMAKE_MATCH_2}" contents)
    string(APPEND text "const std::string_view ${name} = R\"tandem_asset(${contents})tandem_asset\";\n")
  endforeach()
  file(WRITE ${OUT} "${text}}  // namespace tandem::assets\n")
  return()
endif()

find_file(DYGRAPHS_JS dygraph.min.js PATHS /usr/share/javascript/dygraphs REQUIRED NO_DEFAULT_PATH)
set(page ${CMAKE_SOURCE_DIR}/src/report/page)
set(inputs page_html=${page}/page.html page_css=${page}/page.css page_js=${page}/page.js plot_js=${DYGRAPHS_JS})
set(out ${CMAKE_BINARY_DIR}/report_assets.cpp)
list(JOIN inputs "|" joined)
add_custom_command(OUTPUT ${out}
                   COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DINPUTS=${joined}" -P ${CMAKE_CURRENT_LIST_FILE}
                   DEPENDS ${page}/page.html ${page}/page.css ${page}/page.js ${DYGRAPHS_JS} ${CMAKE_CURRENT_LIST_FILE}
                   VERBATIM)
target_sources(tandem_report PRIVATE ${out})
