# Fixed files (pages, their styles and scripts) become string constants of a folder's library, so that the program needs
# no files beside it. Run as a script (-DOUT=... -DHEADER=... -DINPUTS=name=path|name=path...) it writes them.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "#include \"${HEADER}\"\n\nnamespace tandem::assets {\n")
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

# embed_assets(folder header name=path...): header, below src/, declares the names.
function(embed_assets folder header)
  set(out ${CMAKE_BINARY_DIR}/${folder}_assets.cpp)
  list(JOIN ARGN "|" joined)
  set(files ${ARGN})
  list(TRANSFORM files REPLACE "^[a-z_]+=" "")
  add_custom_command(OUTPUT ${out}
                     COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DHEADER=${header} "-DINPUTS=${joined}" -P ${CMAKE_SOURCE_DIR}/cmake/assets.cmake
                     DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/assets.cmake
                     VERBATIM)
  target_sources(tandem_${folder} PRIVATE ${out})
endfunction()
