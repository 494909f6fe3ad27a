# A linear layer with a fused epilogue, out = min(W X + bias, c) - c, from plain Julia arrays with features
# first. To run it, with the C library built or installed:
#
#     POSTLUDE_LIBRARY=<folder>/libpostlude_c.so julia --project=capi/julia/Postlude examples/s1_from_julia/main.jl
#
# Postlude's tests check this file without running it: they have no Julia.

using Postlude

const M, N, K = 5, 7, 300

function main()
    X = rand(Float32, K, M)
    W = (2 .* rand(Float32, N, K) .- 1) ./ sqrt(Float32(K))
    bias = (2 .* rand(Float32, N) .- 1) ./ sqrt(Float32(K))
    c = 0.5f0

    # One call.
    out = zeros(Float32, N, M)
    linear!(out, "min(y + bias, c) - c", X, W; bias, c)

    # A plan is made once for its sizes, and may be executed many times.
    plan = Plan("min(y + bias, c) - c", X, W; bias, c)
    again = zeros(Float32, N, M)
    plan(again, X, W; bias, c)

    expected = min.(Float64.(W) * Float64.(X) .+ bias, c) .- c
    wrong = count(.!(abs.(out .- expected) .<= 1e-4 .+ 1e-4 .* abs.(expected)))
    println("the last element is ", out[end], ", ", wrong, " of ", length(out), " elements are wrong")
    return wrong == 0 && again == out
end

main() || exit(1)
