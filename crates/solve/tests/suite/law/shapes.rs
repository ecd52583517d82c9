//! Rules of the shapes that the shared way reads otherwise than the plain one: maxima and sums that are named again, sums that go
//! on from others, intervals under every kind of condition, and filters on fields of which some are free.

/// Variables of `per` and what must hold.
pub(crate) const RULES: [(&str, &str); 38] = [
    // Sums that go on from others.
    ("u in numbers", "(sum v in numbers where v <= u of (sum r(k = v) of x)) <= limit()"),
    ("u in 1..3", "(sum v in 1..3 where v <= u of (sum r(k >= v) of n)) - (sum s() of z) <= 6"),
    ("u in numbers", "(sum r(k <= u) of n) <= 3 + u"),
    ("u in numbers", "(sum v in numbers where v <= u of (count r(k = v))) = (count s(z <= u))"),
    ("u in numbers", "(sum r(k <= u) of n * size(p)) != limit() or (sum r(k <= u) of n) > 2"),
    // Maxima that are named again.
    ("u in numbers", "max(0, (sum r() of x) - u) <= 6"),
    ("u in numbers", "max(0, (sum r() of x) - u) + max((sum r() of x) - u, 0) <= 9"),
    ("u in numbers, v in some", "max(0, (sum r(p = v) of n) - u) <= max(0, (sum s() of z) - size(v))"),
    ("", "abs(sum r() of x) + abs(sum s() of z) >= max(0, sum r() of x)"),
    ("", "min(sum r() of x, sum s() of z) <= max(sum s() of z, sum r() of x) - 1"),
    ("u in numbers", "(max v0 in r of v0.x else -2) <= u or $most > 2"),
    // Intervals that are required.
    ("", "no_overlap r() of x, x + 2"),
    ("", "no_overlap s() of z, z + 1"),
    ("", "no_overlap r() of x + n, x + n + 2"),
    ("v in parts", "no_overlap r(p = v) of x, x + 3"),
    ("", "(no_overlap r() of x, x + 1) and (no_overlap s() of z, z + 3)"),
    ("", "for v in numbers: no_overlap r(k != v) of x, x + 2"),
    ("", "no_overlap v0 in r where v0.n > 1 of v0.x, v0.x + 2"),
    ("", "no_overlap v0 in r where exists s(p = v0.q) of v0.x, v0.x + 1"),
    ("", "cumulative r() of x, x + 3, size(p) + 3, 5"),
    ("", "cumulative s() of z, z + 2, 2, 3"),
    ("", "cumulative r() of x, x + size(p), 2, 3"),
    ("v in numbers", "cumulative r(k >= v) of x, x + 4, 1, 2"),
    ("", "cumulative v0 in r where v0.b of v0.x, v0.x + 5, 3, 4"),
    // Intervals of which a constraint of the engine's would say something else.
    ("", "no_overlap r() of x, x + size(p)"),
    ("", "cumulative r() of x, x + 2, size(p), limit()"),
    ("", "cumulative r() of x, x + 2, n, limit()"),
    ("", "cumulative s() of z, z + 2, 1, (count r()) - 1"),
    // Intervals that are negated, counted, or one way of several.
    ("", "not (no_overlap r() of x, x + 2)"),
    ("", "(no_overlap r() of x, x + 2) or (count s()) > 1"),
    ("", "(exists s(z > 0)) implies (no_overlap r() of x, x + 2)"),
    ("", "not (cumulative r() of x, x + 3, size(p) + 3, 5) or (cumulative s() of z, z + 2, 2, 3)"),
    ("", "(count v in parts where no_overlap r(p = v) of x, x + 3) = 2"),
    ("", "exists v in numbers where cumulative r(k >= v) of x, x + 4, 1, 1"),
    // Filters on fields of which some are free.
    ("v in parts", "(count r(q = v)) <= 1"),
    ("v in parts", "(sum s(p = v) of z) >= (sum r(q = v, p != v) of x)"),
    ("u in numbers", "(exists r(q in {pa(), pb()}, k <= u)) or (none s(p in {pc()}, z < u))"),
    ("u in numbers", "(count r(k = u, q = pa())) + (count r(x = u)) <= 1"),
];

/// What an objective may be of.
pub(crate) const NUMBERS: [&str; 7] = [
    "sum u in numbers of max(0, (sum r() of x) - u)",
    "sum u in numbers of (sum v in numbers where v <= u of (sum r(k = v) of x))",
    "(sum u in numbers of max(0, (sum r(k <= u) of n) - 2)) - (sum s() of z)",
    "(count v in parts where no_overlap r(p = v) of x, x + 3) * 3 + (sum r() of n)",
    "(sum v in parts of (sum s(p = v) of z) * size(v)) + (max v0 in r of v0.x else -2)",
    "(sum r() of n + 2) + (sum s() of z - 1)",
    "sum v in parts of abs((sum r(q = v) of x) - (count s(p = v)))",
];
