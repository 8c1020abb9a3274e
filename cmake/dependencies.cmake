# The libraries that anesi is built from besides libtorch. Four of them are headers, and are fetched where they are not
# installed. One line names all that is missing in the end.
option(ANESI_FETCH "Fetch the header libraries that are not installed" ON)
option(ANESI_WITH_CADICAL "Build the SAT pruner where CaDiCaL is installed" ON)
option(ANESI_WITH_HTTPLIB "Build the server of the page where cpp-httplib is installed" ON)
set(missing)  # by Debian's names

# Wheels hold all that they need, of versions that are known.
option(ANESI_BUNDLED "Build with the libraries of third_party/, statically, instead of those that are installed" OFF)
if(ANESI_BUNDLED)
  include(cmake/third_party.cmake)
endif()

# A target for the headers of one commit. This is no FetchContent because that ends at the first library it cannot fetch.
function(anesi_fetch_headers target package repository commit)
  set(sources ${PROJECT_BINARY_DIR}/fetched/${commit})
  if(ANESI_FETCH AND NOT EXISTS ${sources}/include)
    message(STATUS "fetching ${repository}")
    file(MAKE_DIRECTORY ${sources})
    foreach(step "init" "fetch;--depth;1;${repository};${commit}" "checkout;${commit}")
      # Told where its repository is, git touches no other that the build tree may lie in.
      execute_process(COMMAND git --git-dir=${sources}/.git --work-tree=${sources} ${step}
                      TIMEOUT 120 OUTPUT_QUIET ERROR_QUIET)
    endforeach()
  endif()
  if(EXISTS ${sources}/include)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE ${sources}/include)
  else()
    set(missing ${missing} ${package} PARENT_SCOPE)
  endif()
endfunction()

if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json QUIET)
endif()
if(NOT TARGET nlohmann_json::nlohmann_json)
  anesi_fetch_headers(nlohmann_json::nlohmann_json nlohmann-json3-dev https://github.com/nlohmann/json.git
                      9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03)  # 3.11.3
endif()

# Of those that need no libtorch; libtorch brings its own along.
if(NOT TARGET fmt::fmt-header-only)
  find_package(fmt QUIET)
endif()
if(NOT TARGET fmt::fmt-header-only)
  anesi_fetch_headers(fmt::fmt-header-only libfmt-dev https://github.com/fmtlib/fmt.git
                      0c9fce2ffefecfdce794e1859584e25877b7b592)  # 11.0.2
  if(TARGET fmt::fmt-header-only)
    target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
  endif()
endif()

if(NOT TARGET anesi_toml)
  find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h)
endif()
if(TARGET anesi_toml)
  # It is there.
elseif(TOMLPLUSPLUS_INCLUDE_DIR)
  add_library(anesi_toml INTERFACE IMPORTED)
  target_include_directories(anesi_toml INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})
else()
  anesi_fetch_headers(anesi_toml libtomlplusplus-dev https://github.com/marzer/tomlplusplus.git
                      30172438cee64926dc41fdd9c11fb3ba5b2ba9de)  # 3.4.0
endif()

if(ANESI_BUILD_PROGRAM)
  find_package(CLI11 QUIET)
  if(NOT TARGET CLI11::CLI11)
    anesi_fetch_headers(CLI11::CLI11 libcli11-dev https://github.com/CLIUtils/CLI11.git
                        6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9)  # 2.4.2
  endif()
endif()

if(ANESI_WITH_CADICAL AND NOT TARGET anesi_cadical)
  find_path(CADICAL_INCLUDE_DIR cadical.hpp)
  find_library(CADICAL_LIBRARY cadical)
endif()
if(TARGET anesi_cadical)
  # It is there.
elseif(ANESI_WITH_CADICAL AND CADICAL_INCLUDE_DIR AND CADICAL_LIBRARY)
  add_library(anesi_cadical INTERFACE IMPORTED)
  target_include_directories(anesi_cadical INTERFACE ${CADICAL_INCLUDE_DIR})
  target_link_libraries(anesi_cadical INTERFACE ${CADICAL_LIBRARY})
else()
  message(STATUS "building without CaDiCaL, and so without the SAT pruner")
endif()

# The server of the page. Debian's is a compiled library whose classes hang on what it was compiled with, as its
# pkg-config file tells. What anesi derives from them must fit: later versions have others.
if(ANESI_WITH_HTTPLIB AND ANESI_BUILD_PROGRAM)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(HTTPLIB QUIET cpp-httplib>=0.11 cpp-httplib<0.16)
  endif()
endif()
if(HTTPLIB_FOUND)
  add_library(anesi_httplib INTERFACE IMPORTED)
  target_include_directories(anesi_httplib INTERFACE ${HTTPLIB_INCLUDE_DIRS})
  target_link_libraries(anesi_httplib INTERFACE ${HTTPLIB_LINK_LIBRARIES})
  list(TRANSFORM HTTPLIB_CFLAGS_OTHER REPLACE "^-D" "" OUTPUT_VARIABLE ANESI_HTTPLIB_DEFINITIONS)
else()
  message(STATUS "building without cpp-httplib, and so without `anesi serve`")
endif()

if(ANESI_BUILD_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    list(APPEND missing libgtest-dev)
  endif()
endif()
if(SKBUILD AND NOT Python_Development.Module_FOUND)
  list(APPEND missing python3-dev)
endif()

if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR " anesi needs packages that are not installed (Debian's names): ${missing}")
endif()
