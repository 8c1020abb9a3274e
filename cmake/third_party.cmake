# The libraries of third_party/, linked statically. Source distributions hold that folder; elsewhere
# scripts/third_party.py fetches it from PyPI, once.
set(ANESI_THIRD_PARTY ${PROJECT_SOURCE_DIR}/third_party CACHE PATH "Sources of the libraries that are bundled")
if(NOT Python_Interpreter_FOUND)  # asking again would forget which other components were found
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
endif()
execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/third_party.py ${ANESI_THIRD_PARTY}
                RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR " anesi needs third_party/, which could not be fetched from PyPI (the reason is above). Either build from"
                      " a source distribution, which holds it, or run `python3 scripts/third_party.py` where there is a network")
endif()

add_library(fmt::fmt-header-only INTERFACE IMPORTED)
target_include_directories(fmt::fmt-header-only INTERFACE ${ANESI_THIRD_PARTY}/fmt/include)
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${ANESI_THIRD_PARTY}/nlohmann_json/include)
add_library(anesi_toml INTERFACE IMPORTED)
target_include_directories(anesi_toml INTERFACE ${ANESI_THIRD_PARTY}/tomlplusplus/include)

file(GLOB cadical_sources ${ANESI_THIRD_PARTY}/cadical/src/*.cpp)
list(FILTER cadical_sources EXCLUDE REGEX "/(cadical|mobical)\\.cpp$")  # programs
add_library(anesi_cadical STATIC ${cadical_sources})
target_include_directories(anesi_cadical SYSTEM INTERFACE ${ANESI_THIRD_PARTY}/cadical/src)
target_compile_definitions(anesi_cadical PRIVATE NBUILD NDEBUG)
target_compile_options(anesi_cadical PRIVATE -w -O3)
set_target_properties(anesi_cadical PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                               UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)  # a quarter of the time
foreach(source internal lratbuilder probe)  # which define what others define too
  set_source_files_properties(${ANESI_THIRD_PARTY}/cadical/src/${source}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()
