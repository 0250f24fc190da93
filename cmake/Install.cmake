# What `cmake --install` puts in place: library, headers, licence, and the two ways to find them,
# find_package(filum) and pkg-config. The tree may be moved afterwards.
include(CMakePackageConfigHelpers)

set(filum_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/filum)
install(TARGETS filum EXPORT filumTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/filum DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT filumTargets NAMESPACE filum:: DESTINATION ${filum_cmake_dir})

configure_package_config_file(cmake/filumConfig.cmake.in filumConfig.cmake
  INSTALL_DESTINATION ${filum_cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(filumConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/filumConfig.cmake ${PROJECT_BINARY_DIR}/filumConfigVersion.cmake
        cmake/FindAMD.cmake cmake/FindMETIS.cmake DESTINATION ${filum_cmake_dir})

# A static library hands on what it needs itself, so that `pkg-config --libs filum` is always
# enough. Folders are written relative to the .pc file unless an absolute one was asked for.
if(BUILD_SHARED_LIBS)
  set(filum_pc_requires "")
  set(filum_pc_libs "")
else()
  set(filum_pc_requires ${FILUM_HDF5_MODULE_NAME})
  set(filum_pc_libs "-lamd -lsuitesparseconfig -lmetis ${OpenMP_C_FLAGS} -lm")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(filum_pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(filum_pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(filum_pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH filum_pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" filum_pc_prefix "\${pcfiledir}/${filum_pc_up}")
  set(filum_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(filum_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/filum.pc.in filum.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/filum.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
