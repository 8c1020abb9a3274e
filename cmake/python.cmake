# Finds Python: that of .venv where there is one. The stable ABI is there only if its component is asked for, which
# scikit-build-core names in the wheels that are to have it.
if(NOT Python_EXECUTABLE AND NOT SKBUILD AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 QUIET COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module ${SKBUILD_SABI_COMPONENT})
