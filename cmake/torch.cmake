# Finds libtorch: where CMAKE_PREFIX_PATH or Torch_DIR say, else the torch of Python's own environment. Under pip's build
# isolation Python does not see that environment, unless it is told to ignore the variables that pip sets (-E).
set(python_torch)
if(Python_Interpreter_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -E -c
                          "import importlib.util as i; t = i.find_spec('torch'); t and print(*t.submodule_search_locations)"
                  WORKING_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_VARIABLE python_torch OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
file(STRINGS ${PROJECT_SOURCE_DIR}/requirements.txt torch_wanted REGEX "^torch==")

if(SKBUILD)  # a wheel's program is for the torch that its Python imports, and for no other
  set(Torch_DIR ${python_torch}/share/cmake/Torch)
endif()
if(SKBUILD AND EXISTS ${python_torch}/lib/libtorch_cuda.so)
  # A torch for CUDA has CMake files that insist on the CUDA toolkit. anesi uses the processor alone, and does without.
  include(${Torch_DIR}/TorchConfigVersion.cmake)
  set(Torch_FOUND TRUE)
  set(Torch_VERSION ${PACKAGE_VERSION})
  set(TORCH_INSTALL_PREFIX ${python_torch})
  set(TORCH_LIBRARIES torch)
  add_library(torch INTERFACE IMPORTED)
  target_include_directories(torch INTERFACE ${python_torch}/include ${python_torch}/include/torch/csrc/api/include)
  target_link_libraries(torch INTERFACE ${python_torch}/lib/libtorch_cpu.so ${python_torch}/lib/libc10.so)
  target_link_options(torch INTERFACE -Wl,--allow-shlib-undefined)  # CUDA's own libraries, which torch finds
elseif(python_torch OR NOT SKBUILD)
  find_package(Torch QUIET HINTS ${python_torch})
endif()
if(NOT Torch_FOUND)  # a message that begins with a space stays on one line
  message(FATAL_ERROR " anesi needs torch in Python's environment: pip install ${torch_wanted}"
                      " (with another installer than pip, turn build isolation off)")
endif()
