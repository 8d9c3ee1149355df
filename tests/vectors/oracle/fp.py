"""Floating point in exact rational arithmetic: bits in, bits out, every MODE.

Independent of the emulator and of the host's floating point: numbers are Fractions.
"""
# SPDX-License-Identifier: MIT
from fractions import Fraction

NEAREST, UP, DOWN, ZERO = range(4)


class Format:
    """A binary format: exponent and fraction bits."""

    def __init__(self, exponent, fraction):
        self.e, self.f = exponent, fraction
        self.bits = 1 + exponent + fraction
        self.bias = (1 << exponent - 1) - 1
        self.sign = 1 << self.bits - 1
        self.inf = ((1 << exponent) - 1) << fraction
        self.quiet_bit = 1 << fraction - 1
        self.emin = 1 - self.bias

    def nan(self, b):
        return b & ~self.sign > self.inf

    def snan(self, b):
        return self.nan(b) and not b & self.quiet_bit

    def quiet(self, b):
        return b | self.quiet_bit

    def is_inf(self, b):
        return b & ~self.sign == self.inf

    def zero(self, b):
        return b & ~self.sign == 0

    def denormal(self, b):
        return 0 < b & ~self.sign < 1 << self.f

    def negative(self, b):
        return bool(b & self.sign)

    def value(self, b):
        """The number; not for infinities and NaNs."""
        a = b & ~self.sign
        e, f = a >> self.f, a & (1 << self.f) - 1
        v = Fraction(f) * Fraction(2) ** (self.emin - self.f) if e == 0 else \
            Fraction((1 << self.f) + f) * Fraction(2) ** (e - self.bias - self.f)
        return -v if self.negative(b) else v

    def value_or_inf(self, b):
        if self.is_inf(b):
            return "-inf" if self.negative(b) else "inf"
        return self.value(b)

    def flush(self, b):
        return b & self.sign if self.denormal(b) else b

    def round(self, v, mode, negative_zero=False):
        """The nearest number in a direction. A zero value gets the given sign."""
        if v == 0:
            return self.sign if negative_zero else 0
        negative, a = v < 0, abs(v)
        e = floor_log2(a)
        e = max(e, self.emin)
        unit = Fraction(2) ** (e - self.f)
        n, rest = divmod(a, unit)
        up = {NEAREST: rest * 2 > unit or (rest * 2 == unit and n & 1), ZERO: False,
              UP: rest and not negative, DOWN: rest and negative}[mode]
        n = int(n) + bool(up)
        if n >= 1 << self.f:
            b = ((e + self.bias) << self.f) + (n - (1 << self.f))
        else:
            b = n
        if b >= self.inf:
            to_inf = mode == NEAREST or (mode == UP and not negative) or \
                (mode == DOWN and negative)
            b = self.inf if to_inf else self.inf - 1
        return b | (self.sign if negative else 0)


def floor_log2(a):
    e = a.numerator.bit_length() - a.denominator.bit_length()
    while Fraction(2) ** e > a:
        e -= 1
    while Fraction(2) ** (e + 1) <= a:
        e += 1
    return e


F16, F32, F64 = Format(5, 10), Format(8, 23), Format(11, 52)


class Mode:
    """MODE register image, as the operations of one format see it."""

    def __init__(self, bits):
        self.bits = bits
        self.ieee, self.dx10 = bits >> 9 & 1, bits >> 8 & 1
        self.ovfl = bits >> 23 & 1

    def rounding(self, fmt):
        return self.bits & 3 if fmt is F32 else self.bits >> 2 & 3

    def keep_in(self, fmt):
        return self.bits >> (4 if fmt is F32 else 6) & 1

    def keep_out(self, fmt):
        return self.bits >> (5 if fmt is F32 else 7) & 1


class Unclear(Exception):
    """The rules do not say: the row is left out."""


NAN = "nan"


def arith(fmt, mode, inputs, exact, invalid):
    """The shape of all arithmetic: flush, NaNs, exact value, one rounding.

    exact(values) -> (value or signed infinity bits, sign if it is zero)
    """
    if not mode.keep_in(fmt):
        inputs = [fmt.flush(b) for b in inputs]
    nans = [b for b in inputs if fmt.nan(b)]
    if nans:
        if len({fmt.quiet(b) for b in nans}) > 1:
            return NAN  # which operand's NaN it is, no document says for the VALU
        return fmt.quiet(nans[0])
    if invalid(*inputs):
        return NAN
    return finish(fmt, mode, exact(*inputs))


def finish(fmt, mode, result):
    value, negative_zero = result
    if value == "inf":
        return fmt.inf | (fmt.sign if negative_zero else 0)
    b = fmt.round(value, mode.rounding(fmt), negative_zero)
    if not mode.keep_out(fmt):
        tiny = value != 0 and abs(value) < Fraction(2) ** fmt.emin
        if tiny and not fmt.denormal(b) and not fmt.zero(b):
            raise Unclear  # tiny before, not after rounding
        b = fmt.flush(b)
        if tiny and fmt.zero(b):
            b = fmt.sign if value < 0 else 0
    return b


def add(fmt, mode, a, b):
    return fma(fmt, mode, fmt.bias << fmt.f, a, b, (a, b))


def mul(fmt, mode, a, b):
    def exact(a, b):
        sign = fmt.negative(a) != fmt.negative(b)
        if fmt.is_inf(a) or fmt.is_inf(b):
            return "inf", sign
        return fmt.value(a) * fmt.value(b), sign

    def invalid(a, b):
        return (fmt.is_inf(a) and fmt.zero(b)) or (fmt.zero(a) and fmt.is_inf(b))
    return arith(fmt, mode, [a, b], exact, invalid)


def fma(fmt, mode, a, b, c, only=None):
    def product_inf(a, b):
        return fmt.is_inf(a) or fmt.is_inf(b)

    def exact(a, b, c):
        sign = fmt.negative(a) != fmt.negative(b)
        if product_inf(a, b):
            return "inf", sign
        if fmt.is_inf(c):
            return "inf", fmt.negative(c)
        p, q = fmt.value(a) * fmt.value(b), fmt.value(c)
        if p + q:
            return p + q, False
        if sign == fmt.negative(c) and p == 0 and q == 0:
            return 0, sign
        return Fraction(0), mode.rounding(fmt) == DOWN

    def invalid(a, b, c):
        if (fmt.is_inf(a) and fmt.zero(b)) or (fmt.zero(a) and fmt.is_inf(b)):
            return True
        return product_inf(a, b) and fmt.is_inf(c) and \
            (fmt.negative(a) != fmt.negative(b)) != fmt.negative(c)
    return arith(fmt, mode, [a, b, c], exact, invalid)


def neg(fmt, b):
    return b ^ fmt.sign


def key(fmt, b):
    """Order of all numbers, -0 before +0."""
    a = b & ~fmt.sign
    return -a - 1 if fmt.negative(b) else a


def minmax(fmt, mode, a, b, larger):
    """Manual, V_MIN_F32 and V_MAX_F32; input denormals flushed as MODE says."""
    if not mode.keep_in(fmt):
        a, b = fmt.flush(a), fmt.flush(b)
    if mode.ieee:
        if fmt.snan(a):
            return fmt.quiet(a)
        if fmt.snan(b):
            return fmt.quiet(b)
    if fmt.nan(b):
        return a
    if fmt.nan(a):
        return b
    return (max if larger else min)(a, b, key=lambda x: key(fmt, x))


def chain3(fmt, mode, a, b, c, first, second):
    return minmax(fmt, mode, minmax(fmt, mode, a, b, first), c, second)


def med3(fmt, mode, a, b, c):
    """Drop the first operand that equals the largest; -0 equals +0 (manual, V_MED3)."""
    if any(fmt.nan(x) for x in (a, b, c)):
        return chain3(fmt, mode, a, b, c, False, False)
    if not mode.keep_in(fmt):
        a, b, c = fmt.flush(a), fmt.flush(b), fmt.flush(c)
    top = max((a, b, c), key=lambda x: key(fmt, x))

    def same(x):
        return x == top or (fmt.zero(x) and fmt.zero(top))
    rest = (b, c) if same(a) else (a, c) if same(b) else (a, b)
    return max(rest, key=lambda x: key(fmt, x))


def integral(fmt, mode, b, how):
    """floor, ceil, trunc, rndne: exact; a zero keeps the sign of its source."""
    if not mode.keep_in(fmt):
        b = fmt.flush(b)
    if fmt.nan(b):
        return fmt.quiet(b)
    if fmt.is_inf(b):
        return b
    v = fmt.value(b)
    n = {"floor": v.__floor__, "ceil": v.__ceil__, "trunc": v.__trunc__,
         "rndne": v.__round__}[how]()
    return fmt.round(Fraction(n), NEAREST, fmt.negative(b))


def fract(fmt, mode, b):
    """x - floor(x), below one (manual, V_FRACT)."""
    if not mode.keep_in(fmt):
        b = fmt.flush(b)
    if fmt.nan(b):
        return fmt.quiet(b)
    if fmt.is_inf(b):
        return NAN
    v = fmt.value(b)
    d = v - v.__floor__()
    if d == 0:
        return fmt.sign if mode.rounding(fmt) == DOWN else 0
    r = finish(fmt, mode, (d, False))
    return min(r, (fmt.bias << fmt.f) - 1)


def frexp_exp(fmt, mode, b):
    b = b if mode.keep_in(fmt) else fmt.flush(b)
    if fmt.nan(b) or fmt.is_inf(b) or fmt.zero(b):
        return 0
    return floor_log2(abs(fmt.value(b))) + 1


def frexp_mant(fmt, mode, b):
    b = b if mode.keep_in(fmt) else fmt.flush(b)
    if fmt.nan(b):
        return fmt.quiet(b)
    if fmt.is_inf(b) or fmt.zero(b):
        return b
    v = fmt.value(b)
    return fmt.round(v / Fraction(2) ** (floor_log2(abs(v)) + 1), NEAREST)


def ldexp(fmt, mode, b, n):
    b = b if mode.keep_in(fmt) else fmt.flush(b)
    if fmt.nan(b):
        return fmt.quiet(b)
    if fmt.is_inf(b):
        return b
    return finish(fmt, mode, (fmt.value(b) * Fraction(2) ** n, fmt.negative(b)))


def to_int(fmt, mode, b, low, high):
    """Toward zero; clamped; NaN is 0."""
    b = b if mode.keep_in(fmt) else fmt.flush(b)
    if fmt.nan(b):
        return 0
    if fmt.is_inf(b):
        return low if fmt.negative(b) else high
    return max(low, min(high, fmt.value(b).__trunc__()))


def from_int(fmt, mode, n):
    return finish(fmt, mode, (Fraction(n), False))


def convert(dst, src, mode, b, rounding=None):
    """Float to float. Denormals of each side follow that side's mode bits."""
    b = b if mode.keep_in(src) else src.flush(b)
    sign = dst.sign if src.negative(b) else 0
    if src.nan(b):
        payload = src.quiet(b) & (1 << src.f) - 1
        shift = dst.f - src.f
        payload = payload << shift if shift >= 0 else payload >> -shift
        return sign | dst.inf | payload
    if src.is_inf(b):
        return sign | dst.inf
    v = src.value(b)
    r = dst.round(v, mode.rounding(dst) if rounding is None else rounding,
                  src.negative(b))
    if not mode.keep_out(dst):
        if v and abs(v) < Fraction(2) ** dst.emin and not dst.denormal(r) \
                and not dst.zero(r):
            raise Unclear
        r = dst.flush(r)
    return r


def compare(fmt, mode, a, b):
    """'<', '=', '>' or 'u'."""
    if not mode.keep_in(fmt):
        a, b = fmt.flush(a), fmt.flush(b)
    if fmt.nan(a) or fmt.nan(b):
        return "u"
    if fmt.zero(a) and fmt.zero(b):
        return "="
    ka, kb = key(fmt, a), key(fmt, b)
    return "<" if ka < kb else ">" if ka > kb else "="
