# Finds libtorch: where CMAKE_PREFIX_PATH or Torch_DIR say, else the torch of Python's own environment. Under pip's build
# isolation Python does not see that environment, unless it is told to ignore the variables that pip sets (-E).
if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 QUIET COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)
set(python_torch)
if(Python_Interpreter_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -E -c
                          "import importlib.util as i; t = i.find_spec('torch'); t and print(*t.submodule_search_locations)"
                  WORKING_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_VARIABLE python_torch OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
file(STRINGS ${PROJECT_SOURCE_DIR}/pyproject.toml torch_wanted REGEX "torch==")
string(REGEX REPLACE ".*(torch==[0-9.]+).*" "\\1" torch_wanted "${torch_wanted}")
find_package(Torch QUIET HINTS ${python_torch})
if(NOT Torch_FOUND)
  message(FATAL_ERROR "anesi needs torch in Python's environment: pip install ${torch_wanted}")
endif()
