# postlude_compile_options(TARGET): what every target of ours is compiled with, kept to itself.
# Never -ffast-math: NaN and infinities are part of what the library promises.
function(postlude_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_17)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  # Nobody reads errno or the floating-point exception flags here. Without them loops with comparisons and square roots
  # become SIMD code; no value changes.
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-fno-math-errno> $<$<COMPILE_LANGUAGE:C,CXX>:-fno-trapping-math>)
  endif()
  if(POSTLUDE_NATIVE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-march=native>)
  endif()
endfunction()
