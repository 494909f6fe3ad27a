# Stands for a Kokkos that is not the one Postlude was built with.
set(Kokkos_VERSION 99.1.0)
set(Kokkos_DEVICES SERIAL)
