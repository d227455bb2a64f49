add_library(tandem_warnings INTERFACE)
target_compile_options(tandem_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor
                                                 -Wold-style-cast -Werror)
if(TANDEM_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# The precompiled header of all TORCH folders: made once, half a minute on one core.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/torch_header.cpp CONTENT "")
add_library(tandem_torch_header STATIC ${CMAKE_BINARY_DIR}/torch_header.cpp)
target_link_libraries(tandem_torch_header PRIVATE tandem_torch tandem_warnings)
target_precompile_headers(tandem_torch_header PRIVATE <ATen/ATen.h> <ATen/Parallel.h> <torch/csrc/autograd/custom_function.h>)

# Loading that header takes seconds; files that do not need LibTorch are better off without it.
function(skip_torch_header_where_not_needed)
  foreach(source ${ARGN})
    file(STRINGS ${source} needs REGEX
         "#include (<ATen|<torch|\"model/(tensor|transformer|flat_params|weights|decoder_cache|packed_tokens|model_f|init|positions|memorize|ops)|\"cluster/(comm|grad_exchange|host_lane|leader_link|rank_threads|replicas)|\"train/|\"translate/(batch_workers|top_words)|\"cli/run_)")
    if(NOT needs)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# tandem_folder(name USES folders... LIBRARIES libs... [TORCH]): one static library for src/name and, from every
# x_test.cpp in it, one test program name_test. Files are globbed, so no test can be forgotten.
# TORCH: the folder includes LibTorch and compiles with its precompiled header. Folders above can include its headers
# too, without the precompiled one.
function(tandem_folder name)
  cmake_parse_arguments(FOLDER "TORCH" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main|/quick/[a-z_]+)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  list(TRANSFORM FOLDER_USES PREPEND tandem_)
  if(FOLDER_TORCH)
    list(APPEND FOLDER_LIBRARIES tandem_torch)
  endif()
  add_library(tandem_${name} STATIC ${sources})
  target_include_directories(tandem_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tandem_${name} PUBLIC ${FOLDER_USES} ${FOLDER_LIBRARIES}
                                       PRIVATE tandem_warnings)
  if(FOLDER_TORCH)
    skip_torch_header_where_not_needed(${sources} ${tests})
    target_precompile_headers(tandem_${name} REUSE_FROM tandem_torch_header)
  endif()
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE tandem_${name} tandem_warnings GTest::gtest_main GTest::gmock)
    add_test(NAME ${name} COMMAND ${name}_test)
    if(FOLDER_TORCH)
      target_precompile_headers(${name}_test REUSE_FROM tandem_torch_header)
    else()
      target_compile_options(${name}_test PRIVATE -O0)  # what is tested is optimised; tests need to build quickly
    endif()
  endif()
endfunction()
