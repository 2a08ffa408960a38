"""One call of each function of NumPy that computes, by the module it is in. Plain data for `functions.py`.

Operands, n elements each: x y (floats in -3..3), p w (in 0.05..0.95), s (x sorted), i j (ints below n), d (ints 0..99),
m (x > 0), z c (complex), t (datetimes), o (floats, written). Matrices of about n elements: A B, S (symmetric, positive
definite, at most 200 by 200), R (at most 200 by 200); T has three axes, M is A > 0. r: a column of A; v: a row of A.
"""

from __future__ import annotations

import numpy as np

ELEMENTWISE = {
    "x": """absolute cbrt ceil conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs floor isfinite isinf isnan logical_not
        negative positive rad2deg radians rint sign signbit sin sinh spacing square tan tanh trunc arcsinh arctan fix sinc i0
        isneginf isposinf nan_to_num real imag iscomplex isreal angle round around""",
    "p": "arccos arcsin arctanh log log10 log1p log2 reciprocal sqrt",
    "p + 1": "arccosh",
    "x, y": """add arctan2 copysign divide equal fmax fmin greater greater_equal hypot less less_equal logaddexp logaddexp2
        logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal subtract isclose""",
    "x, p": "floor_divide fmod remainder heaviside divmod",
    "p, x": "float_power power",
    "d": "bitwise_count invert",
    "d, i": "bitwise_and bitwise_or bitwise_xor gcd lcm",
    "i, 3": "left_shift right_shift",
    "x, 3": "ldexp",
    "x ": "frexp modf",
    "t": "isnat",
}

CALLS = {
    "numpy": """
        all(m) allclose(x,x) any(m) append(x,y) arange(n) argmax(x) argmin(x) argpartition(x,n//2) argsort(x) argwhere(m)
        array(x) array_equal(x,x) array_equiv(x,x) array_split(x,4) asarray(x) ascontiguousarray(A.T) asfortranarray(A)
        atleast_1d(x) atleast_2d(x) atleast_3d(x) average(x,weights=p) bartlett(n) bincount(d) bincount(d,weights=x)
        blackman(n) block([[A,B],[B,A]]) broadcast_arrays(A,v) broadcast_to(v,A.shape) choose(d%2,[x,y]) clip(x,-1.0,1.0)
        column_stack((x,y)) compress(m,x) concatenate((x,y)) convolve(x,v) copy(x) copyto(o,x) corrcoef(x,y) correlate(x,v)
        count_nonzero(m) cov(x,y) cross(A[:,:3],B[:,:3]) cumprod(p) cumsum(x) cumulative_sum(x) delete(x,3) diag(x[:100])
        diag_indices(len(R)) diagflat(x[:100]) diagonal(A) diff(x) diff(A,axis=0) digitize(x,s[::10]) dot(A,r) dot(x,y)
        dstack((A,B)) ediff1d(x) einsum('ij,ij->i',A,B) einsum('ij,jk->ik',R,R) empty_like(x) expand_dims(x,0) extract(m,x)
        eye(len(R)) fill_diagonal(A,0.0) flatnonzero(m) flip(x) fliplr(A) flipud(A) full(n,2.0) full_like(x,2.0)
        geomspace(1.0,9.0,n) gradient(x) gradient(A) hamming(n) hanning(n) histogram(x,20) histogram2d(x,y,10)
        histogram_bin_edges(x,20) hsplit(A,2) hstack((A,B)) identity(len(R)) indices(A.shape) inner(A,v) insert(x,2,7.0)
        interp(y,s,x) intersect1d(d,i) isin(d,i) ix_(d,d) kaiser(n,5.0) kron(x[:100],v) lexsort((x,d)) linspace(0.0,1.0,n)
        logspace(0.0,1.0,n) mask_indices(5,np.triu) matmul(A,r) matmul(R,R) max(x) mean(x) mean(A,axis=0) median(x)
        meshgrid(r,v) min(x) moveaxis(T,0,2) nanargmax(x) nanargmin(x) nancumprod(p) nancumsum(x) nanmax(x) nanmean(x)
        nanmedian(x) nanmin(x) nanpercentile(x,30) nanprod(p) nanquantile(x,0.3) nanstd(x) nansum(x) nanvar(x) nonzero(m)
        ones(n) ones_like(x) outer(r,v) packbits(m) pad(x,3) pad(A,1,mode='edge') partition(x,n//2) percentile(x,30)
        permute_dims(T,(2,0,1)) piecewise(x,[x<0,x>=0],[-1.0,1.0]) place(o,m,[1.0,2.0]) polyadd(x,y) polyder(v) polyfit(x,y,2)
        polyint(v) polymul(v,v[:10]) polysub(x,y) polyval(v[:5],x) prod(p) ptp(x) put(o,i,x)
        put_along_axis(A,d[:len(A),None]%A.shape[1],1.0,1) putmask(o,m,y) quantile(x,0.3) ravel(A)
        ravel_multi_index((d,d),(100,100)) repeat(x,3) reshape(x,(2,-1)) resize(x,(3,n)) roll(x,3) roll(A,1,axis=1)
        rollaxis(T,2) rot90(A) searchsorted(s,y) select([x>1,x<-1],[x,y],0.0) setdiff1d(d,i) setxor1d(d,i) sort(x)
        sort(A,axis=0) split(x,2) squeeze(x[None]) stack((x,y)) std(x) std(A,axis=1) sum(x) sum(A,axis=0) sum(A,axis=1)
        swapaxes(T,0,1) take(x,i) take(A,d[:len(A)]%A.shape[1],axis=1) take_along_axis(A,d[:len(A),None]%A.shape[1],1)
        tensordot(A,B,axes=([0,1],[0,1])) tile(x,3) trace(A) transpose(A) trapezoid(x) trapezoid(y,s) tri(len(R)) tril(A)
        tril_indices(len(R)) trim_zeros(x) triu(A) triu_indices(len(R)) union1d(d,i) unique(d) unique(x) unique_counts(d)
        unpackbits(m.view(np.uint8)) unravel_index(i,(n,1)) unstack(A[:3]) unwrap(x) vander(x,4) var(x) var(A,axis=0)
        vdot(x,y) vecdot(A,B) vstack((A,B)) where(m) where(m,x,y) zeros(n) zeros_like(x) add.accumulate(x) add.at(o,i,x)
        add.outer(r,v) add.reduce(A,axis=0) add.reduceat(x,i[:2]) maximum.accumulate(x) maximum.reduce(A,axis=1)
        logaddexp.reduce(x) multiply.outer(r,v) apply_along_axis(np.sum,1,R) sort_complex(z) real_if_close(z) nan_to_num(z)
        absolute(z) exp(z) multiply(z,c) divide(z,c) sum(z)""",
    "numpy.linalg": """
        cholesky(S) cond(S) det(S) eig(S) eigh(S) eigvals(S) eigvalsh(S) inv(S) lstsq(A,r[:len(A)]) matrix_power(S,3)
        matrix_rank(S) multi_dot([S,S,S]) norm(x) norm(A) norm(A,axis=1) pinv(S) qr(S) slogdet(S) solve(S,S[0]) svd(S)
        svdvals(S)""",
    "numpy.fft": """
        fft(x) fft2(A) fftfreq(n) fftn(T) fftshift(x) hfft(z) ifft(z) ifft2(A) ifftshift(x) ihfft(x) irfft(z) irfft2(A)
        rfft(x) rfft2(A) rfftfreq(n) rfftn(T)""",
    "numpy.random": """
        beta(2.0,3.0,n) binomial(10,0.3,n) chisquare(2.0,n) exponential(1.0,n) gamma(2.0,1.0,n) normal(0.0,1.0,n)
        poisson(3.0,n) permutation(n) rand(n) randint(0,100,n) randn(n) random(n) shuffle(o) standard_normal(n)
        uniform(0.0,1.0,n)""",
    "ndarray": """
        x.argsort() A.all() A.any() A.argmax(1) x.astype(np.float32) x.astype(int) x.clip(-1,1) A.copy() x.cumsum()
        A.diagonal() A.dot(v) o.fill(1.0) A.flatten() x.max() x.mean() x.min() m.nonzero() x.prod() A.ravel() x.repeat(2)
        x.reshape(2,-1) x.round(2) s.searchsorted(y) np.array(x).sort() x.std() x.sum() A.sum(0) x.take(i) x.tolist()
        A.trace() A.T x.var() x.view(np.int64) x[i] x[m] x[::-1] x[::2] A[:,1] A[d[:len(A)]%len(A)] A[M] x[None] x[1:-1] A[1:,1:]
        o[m]=0.0 o[i]=x o[::2]=1.0 o+=x o*=2.0""",
}


def operands(n: int) -> dict[str, object]:
    """Values of the operands' names."""
    rng = np.random.default_rng(n)
    x, y, p, w, o = *rng.uniform(-3, 3, (2, n)), *rng.uniform(0.05, 0.95, (2, n)), np.zeros(n)
    side = int(n**0.5)
    A, B = rng.uniform(-3, 3, (2, side, side))
    R = rng.uniform(-1, 1, (min(side, 200),) * 2)
    third = round(n ** (1 / 3))
    i, j, d = rng.integers(0, n, n), rng.integers(0, n, n), rng.integers(0, 100, n)
    z, c = x + 1j * y, y - 1j * p
    return {
        "n": n, "x": x, "y": y, "p": p, "w": w, "o": o, "s": np.sort(x), "i": i, "j": j, "d": d, "m": x > 0, "z": z, "c": c,
        "t": i.astype("M8[s]"), "A": A, "B": B, "R": R, "S": R @ R.T + np.eye(len(R)), "T": rng.uniform(-3, 3, (third,) * 3),
        "M": A > 0, "r": A[:, 0].copy(), "v": A[0].copy(),
    }  # fmt: skip


def calls() -> list[tuple[str, str]]:
    """(name of the module, text of the call) of all."""
    out = [("numpy", f"np.{name}({args.strip()})") for args, names in ELEMENTWISE.items() for name in names.split()]
    for module, text in CALLS.items():
        prefix = "" if module == "ndarray" else module.replace("numpy", "np", 1) + "."
        out += [(module, prefix + call) for call in text.split()]
    return out
