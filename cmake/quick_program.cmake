# tandem-quick: the verbs that need no LibTorch, as a program that lies inside tandem (src/cli/quick/hand_over.cpp).
# With sanitizers tandem does everything itself.
if(NOT TANDEM_SANITIZE)
  set(quick_program ${CMAKE_BINARY_DIR}/tandem-quick)
  set(verbs config decode encode export_log get inspect prepare report watch)
  list(TRANSFORM verbs REPLACE "(.+)" "src/cli/cmd_\\1.cpp")
  add_executable(tandem_quick src/cli/quick/main.cpp src/cli/program.cpp src/cli/cut_files.cpp src/cli/args.cpp src/cli/line_filter.cpp ${verbs}
                 src/cli/inspect_trained.cpp src/model/safetensors.cpp src/model/model_check.cpp src/model/model_path.cpp src/train/checkpoint_manifest.cpp)
  target_link_libraries(tandem_quick PRIVATE tandem_report tandem_data CLI11::CLI11 tandem_warnings)
  target_link_options(tandem_quick PRIVATE -s)
  target_compile_definitions(tandem_quick PRIVATE TANDEM_VERSION="${PROJECT_VERSION}")
  set_target_properties(tandem_quick PROPERTIES OUTPUT_NAME tandem-quick RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

  # Never from the compiler cache: it does not see that the file holds the program, and would give back an old one.
  add_library(tandem_hand_over OBJECT src/cli/quick/hand_over.cpp)
  target_link_libraries(tandem_hand_over PRIVATE tandem_warnings)
  target_include_directories(tandem_hand_over PRIVATE src)
  set_target_properties(tandem_hand_over PROPERTIES CXX_COMPILER_LAUNCHER "")
  add_dependencies(tandem_hand_over tandem_quick)
  set_source_files_properties(src/cli/quick/hand_over.cpp PROPERTIES
    COMPILE_DEFINITIONS TANDEM_QUICK_PROGRAM="${quick_program}" OBJECT_DEPENDS ${quick_program})
  target_sources(tandem PRIVATE $<TARGET_OBJECTS:tandem_hand_over>)
endif()
