# Finds Python: that of .venv where there is one. nanobind uses the stable ABI only if its component is asked for; older
# versions of CMake do not know that.
if(NOT Python_EXECUTABLE AND NOT SKBUILD AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
set(stable_abi)
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.26)
  set(stable_abi Development.SABIModule)
endif()
find_package(Python 3.10 QUIET COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module ${stable_abi})
