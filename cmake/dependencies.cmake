# Every third-party library, found once, as system headers. scripts/setup installs them.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
find_package(CURL 7.80 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(ICU 70 REQUIRED COMPONENTS uc i18n)
find_package(GTest 1.12 REQUIRED)
find_package(benchmark REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(pmix REQUIRED IMPORTED_TARGET pmix>=3)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson>=3.0)
pkg_check_modules(ncursesw REQUIRED ncursesw)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib>=0.11)
pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece>=0.1.97)

find_path(PROTOZERO_INCLUDE protozero/pbf_reader.hpp REQUIRED)
add_library(protozero INTERFACE)
target_include_directories(protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE})

if(TANDEM_FUZZ)
  return()
endif()

# LibTorch: the one that CMAKE_PREFIX_PATH names, else the wheel that scripts/setup put into .venv. Where that is built
# for CUDA, its CMake files ask for a toolkit, which setup put beside it.
set(TANDEM_VENV ${CMAKE_SOURCE_DIR}/.venv CACHE PATH "where scripts/setup installed LibTorch")
file(GLOB torch_wheel ${TANDEM_VENV}/lib/python3*/site-packages/torch)
file(GLOB cuda_toolkit ${TANDEM_VENV}/lib/python3*/site-packages/nvidia/cu13)
file(GLOB nccl ${TANDEM_VENV}/lib/python3*/site-packages/nvidia/nccl)
if(EXISTS ${cuda_toolkit}/bin/nvcc)
  set(CUDAToolkit_ROOT ${cuda_toolkit})
  set(CUDA_TOOLKIT_ROOT_DIR ${cuda_toolkit})
  set(CMAKE_CUDA_COMPILER ${cuda_toolkit}/bin/nvcc)
endif()
if(NOT DEFINED TORCH_CUDA_ARCH_LIST)
  set(TORCH_CUDA_ARCH_LIST 7.5)  # for kernels of our own, of which there are none; else CMake looks for a GPU
endif()
find_package(Torch 2.13 REQUIRED HINTS ${torch_wheel}/share/cmake/Torch)
# Its folder of headers also holds another version of fmt; a link to ours, which is searched first, keeps
# one program from having two.
find_path(FMT_INCLUDE fmt/format.h REQUIRED NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include_first)
file(CREATE_LINK ${FMT_INCLUDE}/fmt ${CMAKE_BINARY_DIR}/include_first/fmt SYMBOLIC)

add_library(tandem_torch INTERFACE)
target_include_directories(tandem_torch SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/include_first ${TORCH_INCLUDE_DIRS})
target_link_libraries(tandem_torch INTERFACE ${TORCH_LIBRARIES})
if(TARGET torch_cuda)
  # Several GPUs sum by NCCL. LibTorch has its code, or links to it, but not its header.
  find_path(NCCL_INCLUDE nccl.h HINTS ${nccl}/include)
  if(NOT NCCL_INCLUDE)
    message(FATAL_ERROR "This LibTorch is built for CUDA, and nccl.h was not found: install libnccl-dev, or set NCCL_INCLUDE to its folder.")
  endif()
  target_include_directories(tandem_torch SYSTEM INTERFACE ${NCCL_INCLUDE})
  target_compile_definitions(tandem_torch INTERFACE USE_C10D_NCCL)
  if(nccl)
    target_link_options(tandem_torch INTERFACE -Wl,-rpath,${nccl}/lib -Wl,-rpath-link,${nccl}/lib)
  endif()
endif()
# at::parallel_for is a loop of OpenMP in its header. Options instead of find_package(OpenMP): the wheel brings a
# libgomp.so.1 of its own, and the program must find one only.
target_compile_options(tandem_torch INTERFACE -fopenmp)
target_link_options(tandem_torch INTERFACE -fopenmp)
