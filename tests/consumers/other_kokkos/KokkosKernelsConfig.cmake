# Belongs to the Kokkos beside it.
