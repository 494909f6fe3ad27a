// The same as C++, where the names live in another space.
#include "postlude_h.c"
