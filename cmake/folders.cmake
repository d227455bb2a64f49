add_library(tandem_warnings INTERFACE)
target_compile_options(tandem_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor
                                                 -Wold-style-cast -Werror)
if(CMAKE_UNITY_BUILD)
  # In a bundle of files every file looks like a header to this warning.
  target_compile_options(tandem_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(TANDEM_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(TANDEM_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()

# The precompiled header of all TORCH folders: made once, half a minute on one core.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/torch_header.cpp CONTENT "")
add_library(tandem_torch_header STATIC ${CMAKE_BINARY_DIR}/torch_header.cpp)
target_link_libraries(tandem_torch_header PRIVATE tandem_torch tandem_warnings)
target_precompile_headers(tandem_torch_header PRIVATE <ATen/ATen.h> <ATen/Parallel.h> <torch/csrc/autograd/custom_function.h>)

# Loading that header takes seconds; files that do not need LibTorch are better off without it.
function(split_by_need_of_torch plain torch)
  foreach(source ${ARGN})
    file(STRINGS ${source} needs REGEX
         "#include (<ATen|<c10|<torch|\"model/(tensor|transformer|flat_params|weights|decoder_cache|packed_tokens|model_f|init|positions|memorize|ops|decode/(top_words|step_weights|quick_decoding))|\"cluster/(comm|grad_exchange|host_lane|leader_link|shard_link|local_courier|local_exchange|rank_threads|replicas|staging|bucket_gate|gpu_cost)|\"train/|\"translate/batch_workers|\"cli/run_)")
    if(needs)
      list(APPEND with ${source})
    else()
      list(APPEND without ${source})
    endif()
  endforeach()
  set(${torch} ${with} PARENT_SCOPE)
  set(${plain} ${without} PARENT_SCOPE)
endfunction()

# Adds `sources` of a TORCH folder to `target`: those that need LibTorch with its precompiled header, the others as
# objects of their own, since a unity build (CMakePresets.json) would mix both kinds in one file.
function(add_torch_sources target)
  split_by_need_of_torch(plain torch ${ARGN})
  target_sources(${target} PRIVATE ${torch})
  target_precompile_headers(${target} REUSE_FROM tandem_torch_header)
  if(plain)
    add_library(${target}_plain OBJECT ${plain})
    target_include_directories(${target}_plain PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_link_libraries(${target}_plain PRIVATE $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
    target_compile_definitions(${target}_plain PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_plain>)
  endif()
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
  add_library(tandem_${name} STATIC)
  target_include_directories(tandem_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tandem_${name} PUBLIC ${FOLDER_USES} ${FOLDER_LIBRARIES}
                                       PRIVATE tandem_warnings)
  if(FOLDER_TORCH)
    add_torch_sources(tandem_${name} ${sources})
  else()
    target_sources(tandem_${name} PRIVATE ${sources})
  endif()
  if(tests)
    add_executable(${name}_test)
    target_link_libraries(${name}_test PRIVATE tandem_${name} tandem_warnings GTest::gtest_main GTest::gmock)
    add_test(NAME ${name} COMMAND ${name}_test)
    if(FOLDER_TORCH)
      add_torch_sources(${name}_test ${tests})
      set(unhurried ${name}_test_plain)  # the rest has the optimisation of its precompiled header
    else()
      target_sources(${name}_test PRIVATE ${tests})
      set(unhurried ${name}_test)
    endif()
    if(TARGET ${unhurried})
      target_compile_options(${unhurried} PRIVATE -O0)  # what is tested is optimised; tests need to build quickly
    endif()
  endif()
endfunction()
