# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: bin/feedring, libexec/feedring/ (programs that the command starts),
# share/feedring/classes/ (lists of classes that it brings along), and for programs that read batches include/feedring/ and the CMake package lib/cmake/feedring.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(feedring_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/feedring)

foreach(program feedring feedring-producer feedring-drain feedring-hdf5)
  if(TARGET ${program})
    if(program STREQUAL "feedring")
      install(TARGETS ${program} DESTINATION ${CMAKE_INSTALL_BINDIR})
    else()
      install(TARGETS ${program} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/feedring)
    endif()
  endif()
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/producers/config/classes DESTINATION ${CMAKE_INSTALL_DATADIR}/feedring)

if(TARGET feedring_consumer)
  set_target_properties(feedring_runtime PROPERTIES EXPORT_NAME runtime)
  set_target_properties(feedring_consumer PROPERTIES EXPORT_NAME consumer)
  install(TARGETS feedring_runtime feedring_consumer EXPORT feedring)
  install(EXPORT feedring NAMESPACE feedring:: FILE feedringTargets.cmake DESTINATION ${feedring_package_dir})
  foreach(folder runtime consumers)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/feedring DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endforeach()
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/feedringConfig.cmake.in feedringConfig.cmake
    INSTALL_DESTINATION ${feedring_package_dir})
  write_basic_package_version_file(feedringConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/feedringConfig.cmake ${PROJECT_BINARY_DIR}/feedringConfigVersion.cmake
    ${CMAKE_CURRENT_LIST_DIR}/FindLibTorch.cmake DESTINATION ${feedring_package_dir})
endif()
if(TARGET feedring_producer)
  set_target_properties(feedring_producer PROPERTIES EXPORT_NAME producer)
  install(TARGETS feedring_producer EXPORT feedring_producer LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT feedring_producer NAMESPACE feedring:: FILE feedringProducerTargets.cmake
    DESTINATION ${feedring_package_dir})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/producers/include/feedring DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET feedring_torch)
  # A set of its own: it can be used only where LibTorch is, the consumer everywhere.
  set_target_properties(feedring_torch PROPERTIES EXPORT_NAME torch)
  install(TARGETS feedring_torch EXPORT feedring_torch)
  install(EXPORT feedring_torch NAMESPACE feedring:: FILE feedringTorchTargets.cmake
    DESTINATION ${feedring_package_dir})
endif()
