#!/usr/bin/env python3
"""Makes the small .npy files of this folder, with NumPy alone.

A layer with a batch of 6, 20 inputs and 9 outputs:
  x.npy      (6, 20)  float32, C order
  w.npy      (9, 20)  float32, Fortran order
  bias.npy   (9,)     float32, a row
  scale.npy  (6, 1)   float32, a column
  mask.npy   (6, 9)   float32, a matrix of zeros and ones, Fortran order
"""

import pathlib

import numpy as np


def main():
    folder = pathlib.Path(__file__).resolve().parent
    numbers = np.random.default_rng(20)
    batch, in_features, out_features = 6, 20, 9
    bound = in_features**-0.5
    arrays = {
        "x": numbers.uniform(0, 1, (batch, in_features)),
        "w": np.asfortranarray(numbers.uniform(-bound, bound, (out_features, in_features))),
        "bias": numbers.uniform(-bound, bound, out_features),
        "scale": numbers.uniform(0.5, 2, (batch, 1)),
        "mask": np.asfortranarray(numbers.integers(0, 2, (batch, out_features))),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array.astype(np.float32))


if __name__ == "__main__":
    main()
