# What is known of machines of each kind without running them: tables that need no other library of ours but sim_config,
# so that lockstep_measure has them where no model is built.
lockstep_library(models_kinds
    SOURCES ${CMAKE_SOURCE_DIR}/models/kinds.cpp
        ${CMAKE_SOURCE_DIR}/models/data_sheet/data_sheet.cpp
        ${CMAKE_SOURCE_DIR}/models/energy/events.cpp
        ${CMAKE_SOURCE_DIR}/models/energy/gpu_events.cpp ${CMAKE_SOURCE_DIR}/models/energy/npu_events.cpp
        ${CMAKE_SOURCE_DIR}/models/energy/tpu_events.cpp
        ${CMAKE_SOURCE_DIR}/models/gpu/chip/chip_rows.cpp ${CMAKE_SOURCE_DIR}/models/gpu/chip/gcc_rows.cpp
        ${CMAKE_SOURCE_DIR}/models/gpu/cluster/cluster_rows.cpp
        ${CMAKE_SOURCE_DIR}/models/gpu/device/parameter_rows.cpp ${CMAKE_SOURCE_DIR}/models/gpu/device/settle.cpp
        ${CMAKE_SOURCE_DIR}/models/gpu/device/system_rows.cpp
        ${CMAKE_SOURCE_DIR}/models/gpu/memory/memory_rows.cpp
        ${CMAKE_SOURCE_DIR}/models/gpu/sm/memory_unit_rows.cpp ${CMAKE_SOURCE_DIR}/models/gpu/sm/sm_rows.cpp
        ${CMAKE_SOURCE_DIR}/models/host/parameter_rows.cpp
        ${CMAKE_SOURCE_DIR}/models/npu/parameter_rows.cpp ${CMAKE_SOURCE_DIR}/models/roofline/parameter_rows.cpp
        ${CMAKE_SOURCE_DIR}/models/tpu/parameter_rows.cpp
        ${CMAKE_SOURCE_DIR}/models/tpu/systolic/parameter_rows.cpp
    DEPENDS sim_config sim_error)
