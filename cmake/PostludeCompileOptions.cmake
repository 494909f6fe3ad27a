# postlude_compile_options(TARGET): what every target of ours is compiled with, kept to itself.
# Never -ffast-math: NaN and infinities are part of what the library promises.
function(postlude_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_17)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(POSTLUDE_NATIVE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-march=native>)
  endif()
endfunction()
