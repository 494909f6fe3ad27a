# To be run where there is Julia: the package's own tests only check it without.

using Postlude
using Test

# No two of N, M and K are equal, so that no layout is mistaken for another. Numbers are small multiples
# of 1/4, so that sums of products are exact in any order.
const N, M, K = 7, 5, 3
quarter(i) = (i * 7 % 23 - 11) / 4
numbers(T, seed, dimensions...) = reshape(T[quarter(seed + i) for i in 1:prod(dimensions)], dimensions)

function status_of(call)
    try
        call()
    catch failure
        failure isa PostludeError && return failure.status
        rethrow()
    end
    return :POSTLUDE_SUCCESS
end

@testset "Postlude, $T" for T in (Float32, Float64)
    X = numbers(T, 1, K, M)
    W = numbers(T, 40, N, K)
    b = numbers(T, 7, N)
    gain = numbers(T, 9, 1, M)
    y = W * X

    @testset "[[1,2],[3,4],[5,6]] times [1,2] is 5, 11, 17" begin
        @test linear("y", T[1; 2;;], T[1 2; 3 4; 5 6]) == T[5; 11; 17;;]
        @test linear("y", transpose(T[1 2; 3 4; 5 6]), T[1 2]) == T[5 11 17]
    end

    @testset "y is W * X, and operands broadcast" begin
        @test linear("y", X, W) == y
        @test linear("y + b", X, W; b) == y .+ b
        @test linear("y * gain + b", X, W; gain, b = reshape(b, N, 1)) == y .* gain .+ b
        @test linear("y * gain", X, W; gain = transpose(vec(gain))) == y .* gain
        @test linear("y + full", X, W; full = 2y) == 3y
        @test linear("y + one", X, W; one = fill(T(0.5))) == y .+ T(0.5)
        @test linear("y + c", X, W; c = 2) == y .+ 2
        @test linear("min(y + bias, c) - c", X, W; bias = b, c = 2.0f0) == min.(y .+ b, 2) .- 2
    end

    @testset "views, transposes and reversed arrays are used in place" begin
        parent = fill(T(-77), 2N, 2M)
        out = view(parent, 1:2:2N, 2:2:2M)
        @test linear!(out, "y - 1", X, W) === out
        @test out == y .- 1
        @test all(view(parent, 2:2:2N, :) .== -77) && all(view(parent, :, 1:2:2M) .== -77)
        @test linear("y", view(X, K:-1:1, :), view(W, :, K:-1:1)) == y
        @test linear("y", transpose(collect(transpose(X))), transpose(collect(transpose(W)))) == y
    end

    @testset "reductions keep their dimension, and go into vectors" begin
        @test linear("sum(y, dim=1)", X, W) == sum(y; dims = 1)
        @test linear("sum(y, dim=0)", X, W) == sum(y; dims = 2)
        @test linear!(zeros(T, M), "max(y, dim=1)", X, W) == vec(maximum(y; dims = 1))
        total, z, best = linear("z = y + b; return sum(z, dim=1), z, argmax(z, dim=1)", X, W; b)
        @test z == y .+ b
        @test total == sum(z; dims = 1)
        @test vec(best) == [argmax(column) - 1 for column in eachcol(z)]
    end

    @testset "a batch of problems" begin
        batch = numbers(T, 3, K, M, 2)
        z = linear("y + b", batch, W; b)
        @test z[:, :, 1] == W * batch[:, :, 1] .+ b && z[:, :, 2] == W * batch[:, :, 2] .+ b
        weights = numbers(T, 30, N, K, 2)
        z = linear("y", batch, weights)
        @test z[:, :, 2] == weights[:, :, 2] * batch[:, :, 2]
    end

    @testset "a plan is made with options" begin
        plain = Plan("relu(relu(y))", X, W, nothing, PlanOptions(; autotune = true))
        @test occursin("clamps: ", Postlude.explain(plain))
        options = PlanOptions(; engine = "kokkos_kernels", without_rewrites = ["clamps", "repetition", "ranges"])
        plan = Plan("relu(relu(y))", X, W, nothing, options)
        @test !occursin("clamps: ", Postlude.explain(plan))
        @test plan(zeros(T, N, M), X, W) == max.(y, 0)
        wrong = PlanOptions(; without_rewrites = ["clamp"])
        @test status_of(() -> Plan("y", X, W, nothing, wrong)) == :POSTLUDE_UNKNOWN_NAME
    end

    @testset "a plan is executed many times" begin
        plan = Plan("relu(y + b) * c", X, W; b, c = 1)
        out = zeros(T, N, M)
        for i in 1:3
            @test plan(out, i * X, W; c = i, b) == i * max.(W * (i * X) .+ b, 0)
        end
        @test occursin("relu", Postlude.explain(plan))
        results = [zeros(T, N, M) for i in 1:8]
        Threads.@threads for i in 1:8
            plan(results[i], X, W; b, c = i)
        end
        @test results == [i * max.(y .+ b, 0) for i in 1:8]
    end

    @testset "errors are thrown, and results are untouched" begin
        out = fill(T(-77), N, M)
        @test status_of(() -> linear!(out, "y + ", X, W)) == :POSTLUDE_SYNTAX_ERROR
        @test status_of(() -> linear!(out, "y + bia", X, W; bias = b)) == :POSTLUDE_UNKNOWN_NAME
        @test status_of(() -> linear!(out, "y + b", X, W; b = b[2:end])) == :POSTLUDE_SHAPE_MISMATCH
        @test status_of(() -> linear!(out, "y", X[2:end, :], W)) == :POSTLUDE_SHAPE_MISMATCH
        @test status_of(() -> linear!(view(out, :, 2:M), "y", X, W)) == :POSTLUDE_SHAPE_MISMATCH
        @test status_of(() -> linear!(out, "y + v", X, W; v = out)) == :POSTLUDE_OVERLAP
        plan = Plan("y + b", X, W; b)
        @test status_of(() -> plan(out, X, W)) == :POSTLUDE_MISSING_OPERAND
        @test status_of(() -> plan(out, X, W; b, c = 2)) == :POSTLUDE_UNKNOWN_NAME
        @test_throws ArgumentError linear!(out, "y + b", X, W; b = 1:N)
        @test_throws ArgumentError Context(:abacus)
        @test all(out .== -77)
        failure = PostludeError(:POSTLUDE_SYNTAX_ERROR, "text")
        @test sprint(showerror, failure) == "PostludeError (POSTLUDE_SYNTAX_ERROR): text"
    end

    @testset "no elements" begin
        @test linear("relu(y + b)", zeros(T, 0, M), zeros(T, N, 0); b) == max.(b .+ zeros(T, 1, M), 0)
        @test size(linear("y", zeros(T, K, 0), W)) == (N, 0)
    end

    @testset "a context" begin
        serial = Context(:serial)
        @test linear(serial, "y", X, W) == y
        Postlude.synchronize(serial)
    end
end
