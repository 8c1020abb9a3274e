# The libraries of third_party/, which scripts/third_party.py fetches from PyPI and source distributions hold.
set(ANESI_THIRD_PARTY ${PROJECT_SOURCE_DIR}/third_party CACHE PATH "Sources of the libraries that are bundled")
set(bundled fmt nlohmann_json tomlplusplus cadical libsdd)
foreach(library ${bundled})
  if(NOT EXISTS ${ANESI_THIRD_PARTY}/${library}/LICENSE)
    set(lacks_libraries TRUE)
  endif()
endforeach()
if(lacks_libraries)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/third_party.py ${ANESI_THIRD_PARTY}
                  COMMAND_ERROR_IS_FATAL ANY)
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
set_target_properties(anesi_cadical PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden UNITY_BUILD OFF)

foreach(library ${bundled})
  install(FILES ${ANESI_THIRD_PARTY}/${library}/LICENSE DESTINATION anesi/licenses/${library} COMPONENT python
          EXCLUDE_FROM_ALL)
endforeach()
