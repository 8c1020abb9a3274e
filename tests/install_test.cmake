# Installs from the build tree BUILD into a fresh prefix under WORK, then does as somebody would who installed anesi:
# builds and runs a program that needs no libtorch, builds and runs a program that only predicts (install/), and a project that adds a fact, an architecture and a task and
# gets a command line of its own (EXAMPLES/03_outside). MODEL is a saved mnist-add model of two digits. Where there is a
# PYTHON with the package, what is saved there is loaded in C++.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}\nfailed: ${result}")
  endif()
  set(output ${output} PARENT_SCOPE)
endfunction()

function(build source name)
  # As one source each: libtorch's headers cost some ten seconds every time.
  run(${CMAKE_COMMAND} -S ${source} -B ${WORK}/${name} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON
      -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix} -DTorch_DIR=${TORCH})
  run(${CMAKE_COMMAND} --build ${WORK}/${name})
endfunction()

function(expect pattern)
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "expected ${pattern}, got:\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(private cli/command.h models/transducer_filter.h core/vectorized_math.h data/terrain.h)
  if(EXISTS ${prefix}/include/anesi/${private})
    message(FATAL_ERROR "anesi/${private} is installed, but it is nobody's business")
  endif()
endforeach()
if(EXISTS ${prefix}/anesi)
  message(FATAL_ERROR "files of the Python package are installed, but they belong into a wheel")
endif()

run(${CMAKE_COMMAND} -S ${SOURCE}/install_knowledge -B ${WORK}/knowledge -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix} -DEXAMPLE=${EXAMPLES}/06_without_torch.cc)
run(${CMAKE_COMMAND} --build ${WORK}/knowledge)
run(${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/knowledge/without_torch)
expect("loaded: 0\\.")
run(ldd ${WORK}/knowledge/without_torch)
if(output MATCHES "torch|c10")
  message(FATAL_ERROR "a program that links anesi::knowledge alone needs libtorch:\n${output}")
endif()

build(${SOURCE}/install predicts)
run(${WORK}/predicts/only_predicts ${MODEL})
expect("3 outputs; the first with probability 0\\.")
if(PYTHON)
  run(${CMAKE_COMMAND} -E env PYTHONPATH=${BUILD}/python ${PYTHON} -W ignore ${SOURCE}/install/save_alarm.py ${WORK}/alarm)
  string(STRIP "${output}" said_in_python)
  run(${WORK}/predicts/only_predicts ${MODEL} ${WORK}/alarm)
  expect("${said_in_python}")
endif()

build(${EXAMPLES}/03_outside outside)
set(alarms ${WORK}/outside/alarms)
run(${WORK}/outside/count_backend_test)
run(${WORK}/outside/alarms_test)
run(${alarms} tasks)
expect("alarm\n  are enough sensors of a room hot")
run(${alarms} check alarm)
expect("certificate, prior")
run(${alarms} train alarm --set train.epochs=3 --out ${WORK}/run --json)
run(${alarms} explain ${WORK}/run --index 0 --output alarm)
expect("most probable world that is alarm")
