//! Random rules of bounded depth over the fixture, as text, so that they pass through the parser and the checker too.

use benchwright_base::Stream;

/// What a variable stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Part,
    Int,
    Money,
    Row(View),
}

/// A view of the fixture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    R,
    S,
    T,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Part,
    Int,
    Money,
    Bool,
}

impl View {
    fn name(self) -> &'static str {
        match self {
            View::R => "r",
            View::S => "s",
            View::T => "t",
        }
    }

    fn fields(self) -> &'static [(&'static str, Sort)] {
        match self {
            View::R => &[
                ("p", Sort::Part),
                ("q", Sort::Part),
                ("k", Sort::Int),
                ("x", Sort::Int),
                ("n", Sort::Int),
                ("b", Sort::Bool),
            ],
            View::S => &[("p", Sort::Part), ("z", Sort::Int), ("m", Sort::Money)],
            View::T => &[("p", Sort::Part), ("k", Sort::Int), ("w", Sort::Int)],
        }
    }

    fn is_fixed(self, field: &str) -> bool {
        matches!((self, field), (_, "k") | (View::R | View::T, "p"))
    }
}

/// What is visible at a place.
#[derive(Clone, Default)]
struct Scope {
    vars: Vec<(String, Stands)>,
    it: Option<View>,
    bare: Vec<View>,
}

/// A text, and whether its value may depend on what is decided.
#[derive(Clone)]
struct Said {
    text: String,
    free: bool,
}

fn fixed(text: impl Into<String>) -> Said {
    Said { text: text.into(), free: false }
}

fn free(text: impl Into<String>) -> Said {
    Said { text: text.into(), free: true }
}

impl Scope {
    /// Every field of a sort that can be named here.
    fn fields(&self, wanted: Sort) -> Vec<Said> {
        let mut found = Vec::new();
        let mut of = |view: View, before: &str| {
            for (name, _) in view.fields().iter().filter(|(_, sort)| *sort == wanted) {
                found.push(Said { text: format!("{before}{name}"), free: !view.is_fixed(name) });
            }
        };
        for (name, stands) in &self.vars {
            if let Stands::Row(view) = stands {
                of(*view, &format!("{name}."));
            }
        }
        if let Some(view) = self.it {
            of(view, "it.");
        }
        for view in &self.bare {
            of(*view, "");
        }
        // A name that two rows have means the nearer one; which of them is fixed does not matter then.
        let texts: Vec<String> = found.iter().map(|said| said.text.clone()).collect();
        for said in &mut found {
            said.free |= texts.iter().filter(|text| **text == said.text).count() > 1;
        }
        found
    }

    fn vars(&self, wanted: Stands) -> Vec<Said> {
        self.vars.iter().filter(|(_, stands)| *stands == wanted).map(|(name, _)| fixed(&**name)).collect()
    }

    /// Names of rows of a view.
    fn rows(&self, view: View) -> Vec<String> {
        self.vars.iter().filter(|(_, stands)| *stands == Stands::Row(view)).map(|(name, _)| name.clone()).collect()
    }
}

const COMPARE: [&str; 6] = ["=", "!=", "<", "<=", ">", ">="];

/// A generator of rules.
pub(crate) struct Grow<'s> {
    stream: &'s mut Stream,
    named: usize,
}

impl Grow<'_> {
    /// A generator on a stream.
    pub(crate) fn new(stream: &mut Stream) -> Grow<'_> {
        Grow { stream, named: 0 }
    }

    /// A rule: the variables of `per`, if it has any, and what must hold.
    pub(crate) fn rule(&mut self, depth: usize) -> (Option<String>, String) {
        let mut scope = Scope::default();
        let per = self.one_in(3).then(|| self.per(&mut scope));
        (per, self.truth(depth, &scope).text)
    }

    /// A number to make small.
    pub(crate) fn objective(&mut self, depth: usize) -> String {
        let scope = Scope::default();
        if self.one_in(4) { self.money(depth, &scope).text } else { self.number(depth, &scope).text }
    }

    fn one_in(&mut self, whole: u64) -> bool {
        self.stream.chance(1, whole)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.stream.below(items.len() as u64) as usize].clone()
    }

    fn name(&mut self) -> String {
        self.named += 1;
        format!("v{}", self.named)
    }

    /// Variables of `per` range over what is not decided.
    fn per(&mut self, scope: &mut Scope) -> String {
        let mut binders = Vec::new();
        for _ in 0..self.stream.between(1, 2) {
            let name = self.name();
            let (source, stands) = match self.stream.below(6) {
                0 | 1 => ("some", Stands::Part),
                2 => ("numbers", Stands::Int),
                3 => ("-1..1", Stands::Int),
                4 => ("t(k != 1)", Stands::Row(View::T)),
                _ => ("t", Stands::Row(View::T)),
            };
            binders.push(format!("{name} in {source}"));
            scope.vars.push((name, stands));
        }
        let mut text = binders.join(", ");
        if self.one_in(3) {
            let known = match self.pick(&scope.vars) {
                (name, Stands::Part) => format!("size({name}) >= 0"),
                (name, Stands::Row(_)) => format!("flag({name}.p) and {name}.k < 4"),
                (name, _) => format!("turn({name}) != -1"),
            };
            text += &format!(" where {known}");
        }
        text
    }

    // ------------------------------------------------------------------ values

    /// A member of the sort; `direct` if it is no fact of what is decided, so that total facts are stated of it.
    fn part(&mut self, depth: usize, scope: &Scope, direct: bool) -> Said {
        if depth > 0 && self.one_in(4) {
            let inner = self.part(depth - 1, scope, true);
            if !(direct && inner.free) {
                return Said { text: format!("next({})", inner.text), free: inner.free };
            }
        }
        if depth > 0 && !direct && self.one_in(6) {
            let inner = self.small(depth - 1, scope);
            return Said { text: format!("owner({})", inner.text), free: inner.free };
        }
        let mut leaves = vec![self.pick(&[fixed("pa()"), fixed("pb()"), fixed("pc()")])];
        leaves.extend(scope.vars(Stands::Part));
        leaves.extend(scope.fields(Sort::Part));
        self.pick(&leaves)
    }

    fn leaf(&mut self, scope: &Scope) -> Said {
        let literal = self.stream.between(-4, 7);
        let mut leaves = vec![fixed(if literal < 0 { format!("({literal})") } else { literal.to_string() })];
        let here: Vec<Said> = scope.vars(Stands::Int).into_iter().chain(scope.fields(Sort::Int)).collect();
        // What is decided is what the law is about.
        leaves.extend(here.iter().filter(|said| said.free).cloned());
        leaves.extend(here);
        self.pick(&leaves)
    }

    /// A number of a narrow range.
    fn small(&mut self, depth: usize, scope: &Scope) -> Said {
        let leaf = self.leaf(scope);
        if depth == 0 || self.one_in(2) {
            return leaf;
        }
        match self.stream.below(3) {
            0 => {
                let (low, high) = (self.stream.between(-4, 0), self.stream.between(3, 9));
                let inner = self.number(depth - 1, scope);
                Said { text: format!("min({high}, max({low}, {}))", inner.text), free: inner.free }
            }
            1 => {
                let (factor, more) = (self.pick(&[2, 3, -1]), self.stream.between(-3, 3));
                Said { text: format!("({factor} * {} + {more})", leaf.text), free: leaf.free }
            }
            _ => {
                let over = self.over(depth - 1, scope, false);
                free(format!("(count {})", over.text))
            }
        }
    }

    fn number(&mut self, depth: usize, scope: &Scope) -> Said {
        if depth == 0 {
            return if self.one_in(3) { self.fact(0, scope) } else { self.leaf(scope) };
        }
        match self.stream.below(22) {
            0 | 1 => self.both(depth, scope, "+"),
            2 | 3 => self.both(depth, scope, "-"),
            4 => self.both(depth, scope, "*"),
            5 => {
                let inner = self.number(depth - 1, scope);
                Said { text: format!("(-{})", inner.text), free: inner.free }
            }
            6 => {
                let inner = self.number(depth - 1, scope);
                Said { text: format!("abs({})", inner.text), free: inner.free }
            }
            7 => {
                let function = self.pick(&["min", "max"]);
                let list: Vec<Said> = (0..self.stream.between(2, 3)).map(|_| self.number(depth - 1, scope)).collect();
                let texts: Vec<&str> = list.iter().map(|said| &*said.text).collect();
                Said { text: format!("{function}({})", texts.join(", ")), free: list.iter().any(|said| said.free) }
            }
            8..=10 => {
                let over = self.over(depth, scope, true);
                let body = self.number(depth - 1, &over.body);
                free(format!("(sum {} of ({}))", over.text, body.text))
            }
            11 => {
                let over = self.over(depth, scope, true);
                free(format!("(count {})", over.text))
            }
            12 | 13 => {
                let over = self.over(depth, scope, true);
                let of = match self.stream.below(4) {
                    0 => self.part(depth - 1, &over.body, false),
                    1 => self.bool_or_row(&over.body),
                    _ => self.small(depth - 1, &over.body),
                };
                free(format!("(count distinct {} of ({}))", over.text, of.text))
            }
            14 | 15 => {
                let kind = self.pick(&["min", "max"]);
                let over = self.over(depth, scope, true);
                let body = self.number(depth - 1, &over.body);
                let otherwise = self.number(depth - 1, scope);
                free(format!("({kind} {} of ({}) else ({}))", over.text, body.text, otherwise.text))
            }
            16..=18 => self.fact(depth - 1, scope),
            19 => free(self.pick(&["$load", "$most"])),
            _ => self.leaf(scope),
        }
    }

    fn both(&mut self, depth: usize, scope: &Scope, sign: &str) -> Said {
        let (a, b) = (self.number(depth - 1, scope), self.number(depth - 1, scope));
        Said { text: format!("({} {sign} {})", a.text, b.text), free: a.free || b.free }
    }

    /// Something to count that is no number: a flag, or the row itself.
    fn bool_or_row(&mut self, scope: &Scope) -> Said {
        let mut leaves = scope.fields(Sort::Bool);
        let rows = [View::R, View::S, View::T].into_iter().flat_map(|view| scope.rows(view));
        leaves.extend(rows.map(|name| free(format!("{name}.id"))));
        leaves.extend(scope.it.map(|_| free("it")));
        if leaves.is_empty() { self.part(0, scope, true) } else { self.pick(&leaves) }
    }

    /// A fact that is a number, with at most one argument that is decided.
    fn fact(&mut self, depth: usize, scope: &Scope) -> Said {
        match self.stream.below(7) {
            0 => fixed("limit()"),
            1 => {
                let part = self.part(depth, scope, true);
                Said { text: format!("size({})", part.text), free: part.free }
            }
            2 => {
                let one = self.part(depth, scope, false);
                let other =
                    if one.free { fixed(self.pick(&["pa()", "pb()", "pc()"])) } else { self.part(depth, scope, false) };
                let (one, other) = if self.one_in(2) { (one, other) } else { (other, one) };
                Said { text: format!("pair({}, {})", one.text, other.text), free: one.free || other.free }
            }
            3 | 4 => self.of_part_and_number("step", depth, scope),
            5 => {
                let at = self.small(depth, scope);
                Said { text: format!("at({})", at.text), free: at.free }
            }
            _ => {
                let at = self.small(depth, scope);
                Said { text: format!("turn({})", at.text), free: at.free }
            }
        }
    }

    fn of_part_and_number(&mut self, fact: &str, depth: usize, scope: &Scope) -> Said {
        let mut part = self.part(depth, scope, false);
        let mut at = self.small(depth, scope);
        if part.free && at.free {
            if self.one_in(4) {
                at = fixed(self.stream.between(-1, 7).to_string().replace("-1", "(-1)"));
            } else {
                part = fixed(self.pick(&["pa()", "pb()", "pc()"]));
            }
        }
        Said { text: format!("{fact}({}, {})", part.text, at.text), free: part.free || at.free }
    }

    fn money(&mut self, depth: usize, scope: &Scope) -> Said {
        if depth == 0 {
            let mut leaves = vec![fixed("purse()")];
            leaves.extend(scope.vars(Stands::Money));
            leaves.extend(scope.fields(Sort::Money));
            return self.pick(&leaves);
        }
        match self.stream.below(9) {
            0 => {
                let part = self.part(depth - 1, scope, true);
                Said { text: format!("worth({})", part.text), free: part.free }
            }
            1 | 2 => {
                // The price of a quantity, as in every trade.
                let of = self.of_part_and_number("price", depth - 1, scope);
                let times = self.leaf(scope);
                Said { text: format!("({} * {})", of.text, times.text), free: of.free || times.free }
            }
            3 => {
                let (a, b) = (self.money(depth - 1, scope), self.money(depth - 1, scope));
                let sign = self.pick(&["+", "-"]);
                Said { text: format!("({} {sign} {})", a.text, b.text), free: a.free || b.free }
            }
            4 | 5 => {
                let over = self.over(depth, scope, true);
                let body = self.money(depth - 1, &over.body);
                free(format!("(sum {} of ({}))", over.text, body.text))
            }
            6 => {
                let kind = self.pick(&["min", "max"]);
                let over = self.over(depth, scope, true);
                let body = self.money(depth - 1, &over.body);
                let otherwise = self.money(depth - 1, scope);
                free(format!("({kind} {} of ({}) else ({}))", over.text, body.text, otherwise.text))
            }
            7 => {
                let inner = self.money(depth - 1, scope);
                Said { text: format!("abs({})", inner.text), free: inner.free }
            }
            _ => self.money(0, scope),
        }
    }

    fn duration(&mut self, depth: usize, scope: &Scope) -> Said {
        let unit = self.pick(&["days", "hours", "minutes", "seconds"]);
        match self.stream.below(4) {
            0 if depth > 0 => {
                let over = self.over(depth, scope, true);
                let body = self.number(0, &over.body);
                free(format!("(sum {} of ({}) {unit})", over.text, body.text))
            }
            1 if depth > 0 => {
                let (a, b) = (self.duration(depth - 1, scope), self.duration(depth - 1, scope));
                Said { text: format!("max({}, {})", a.text, b.text), free: a.free || b.free }
            }
            _ => {
                let inner = self.number(depth.saturating_sub(1), scope);
                Said { text: format!("({}) {unit}", inner.text), free: inner.free }
            }
        }
    }

    // ------------------------------------------------------------------ sources

    /// A filter of a view's rows, read outside of it.
    fn filter(&mut self, depth: usize, scope: &Scope, view: View) -> String {
        let others = scope.rows(view);
        if !others.is_empty() && self.one_in(4) {
            let (other, op) = (self.pick(&others), self.pick(&["=", "!="]));
            return format!("id {op} {other}");
        }
        let (name, sort) = self.pick(view.fields());
        let inner = depth.saturating_sub(2);
        let list = self.one_in(4);
        let op = match (list, sort) {
            (true, _) => self.pick(&["in", "not in"]),
            (_, Sort::Part | Sort::Bool) => self.pick(&["=", "!="]),
            _ => self.pick(&COMPARE),
        };
        let value = |grow: &mut Self| match sort {
            Sort::Part => grow.part(inner, scope, false).text,
            Sort::Int => grow.number(inner, scope).text,
            Sort::Money => grow.money(inner, scope).text,
            Sort::Bool => grow.pick(&["true", "false"]).to_owned(),
        };
        if !list {
            return format!("{name} {op} {}", value(self));
        }
        let values: Vec<String> = (0..self.stream.between(1, 3)).map(|_| value(self)).collect();
        format!("{name} {op} {{{}}}", values.join(", "))
    }

    fn rows(&mut self, depth: usize, scope: &Scope, view: View) -> String {
        let count = self.pick(&[0, 0, 1, 1, 2]);
        let filters: Vec<String> = (0..count).map(|_| self.filter(depth, scope, view)).collect();
        format!("{}({})", view.name(), filters.join(", "))
    }

    fn view(&mut self) -> View {
        self.pick(&[View::R, View::R, View::R, View::S, View::S, View::T])
    }

    /// A variable with its source, which joins the scope.
    fn binder(&mut self, depth: usize, scope: &mut Scope) -> String {
        let name = self.name();
        let (source, stands) = match self.stream.below(12) {
            0 => ("parts".to_owned(), Stands::Part),
            1 => (self.pick(&["some", "nobody"]).to_owned(), Stands::Part),
            2 => ("numbers".to_owned(), Stands::Int),
            3 => ("costs".to_owned(), Stands::Money),
            4 => ("1..3".to_owned(), Stands::Int),
            5 => ("-2..0".to_owned(), Stands::Int),
            6 => {
                let view = self.view();
                (view.name().to_owned(), Stands::Row(view))
            }
            _ => {
                let view = self.view();
                (self.rows(depth, scope, view), Stands::Row(view))
            }
        };
        scope.vars.push((name.clone(), stands));
        format!("{name} in {source}")
    }

    /// What a fold ranges over, with `where` if the fold may have one.
    fn over(&mut self, depth: usize, scope: &Scope, may_where: bool) -> Over {
        let mut inner = scope.clone();
        let mut body = scope.clone();
        let mut text;
        if self.one_in(2) {
            text = self.binder(depth, &mut inner);
            body.vars = inner.vars.clone();
        } else {
            let view = self.view();
            text = self.rows(depth, scope, view);
            inner.it = Some(view);
            body.it = Some(view);
            body.bare.push(view);
        }
        if may_where && depth > 0 && self.one_in(3) {
            text += &format!(" where ({})", self.truth(depth - 1, &inner).text);
        }
        Over { text, body }
    }

    // ------------------------------------------------------------------ truths

    fn comparison(&mut self, depth: usize, scope: &Scope) -> Said {
        let op = self.pick(&COMPARE);
        let (a, b) = match self.stream.below(8) {
            0 => (self.money(depth, scope), self.money(depth, scope)),
            1 => {
                let amount = fixed(self.pick(&["2.50", "0.75", "3", "-1.25"]));
                (self.money(depth, scope), amount)
            }
            2 => (self.duration(depth, scope), self.duration(depth, scope)),
            _ => (self.number(depth, scope), self.number(depth, scope)),
        };
        Said { text: format!("{} {op} {}", a.text, b.text), free: a.free || b.free }
    }

    /// A truth that needs no depth.
    fn atom(&mut self, scope: &Scope) -> Said {
        let bools = scope.fields(Sort::Bool);
        let pairs: Vec<(String, String)> = [View::R, View::S, View::T]
            .into_iter()
            .filter_map(|view| match &*scope.rows(view) {
                [first, .., last] => Some((first.clone(), last.clone())),
                _ => None,
            })
            .collect();
        match self.stream.below(11) {
            0 | 1 | 9 if !bools.is_empty() => {
                let bool = self.pick(&bools);
                let test = self.pick(&["", " = true", " = false", " != true"]);
                free(format!("{}{test}", bool.text))
            }
            2 | 3 | 10 if !pairs.is_empty() => {
                let (a, b) = self.pick(&pairs);
                let form = self.pick(&[("=", ""), ("!=", ""), ("!=", ".id")]);
                free(format!("{a}{} {} {b}{}", form.1, form.0, form.1))
            }
            4 | 5 => {
                let (a, b) = (self.part(1, scope, false), self.part(1, scope, false));
                let op = self.pick(&["=", "!="]);
                Said { text: format!("{} {op} {}", a.text, b.text), free: a.free || b.free }
            }
            6 => {
                let part = self.part(1, scope, true);
                let test = self.pick(&["", " = true", " != true"]);
                Said { text: format!("flag({}){test}", part.text), free: part.free }
            }
            7 if self.one_in(3) => fixed(self.pick(&["true", "false"])),
            _ => self.comparison(0, scope),
        }
    }

    fn truth(&mut self, depth: usize, scope: &Scope) -> Said {
        if depth == 0 {
            return self.atom(scope);
        }
        match self.stream.below(26) {
            0 | 1 => self.joined(depth, scope, "and"),
            2 | 3 => self.joined(depth, scope, "or"),
            4 | 5 => free(format!("(not ({}))", self.truth(depth - 1, scope).text)),
            6 => {
                let (a, b) = (self.truth(depth - 1, scope), self.truth(depth - 1, scope));
                free(format!("(({}) implies {})", a.text, b.text))
            }
            7..=9 => {
                let mut inner = scope.clone();
                let mut text = self.binder(depth, &mut inner);
                if self.one_in(3) {
                    text += &format!(", {}", self.binder(depth, &mut inner));
                }
                if self.one_in(3) {
                    text += &format!(" where ({})", self.truth(depth - 1, &inner).text);
                }
                free(format!("(for {text}: {})", self.truth(depth - 1, &inner).text))
            }
            10 | 11 => {
                let view = self.view();
                let rows = self.rows(depth, scope, view);
                let mut inner = scope.clone();
                if self.one_in(2) {
                    inner.it = Some(view);
                    return free(format!("(all {rows} ({}))", self.truth(depth - 1, &inner).text));
                }
                let name = self.name();
                inner.vars.push((name.clone(), Stands::Row(view)));
                free(format!("(all {name} in {rows} ({}))", self.truth(depth - 1, &inner).text))
            }
            12 | 13 => {
                let over = self.over(depth, scope, true);
                free(format!("(exists {})", over.text))
            }
            14 => {
                let over = self.over(depth, scope, true);
                free(format!("(none {})", over.text))
            }
            15 | 16 => self.listed(depth, scope),
            17 => {
                let over = self.over(depth, scope, true);
                let (start, length) = (self.leaf(&over.body), self.leaf(&over.body));
                free(format!("(no_overlap {} of {}, {} + {})", over.text, start.text, start.text, length.text))
            }
            18 => {
                let over = self.over(depth, scope, true);
                let (start, length) = (self.leaf(&over.body), self.leaf(&over.body));
                let load = self.number(depth - 1, &over.body);
                let limit = self.number(depth - 1, scope);
                let (start, length, load, limit) = (start.text, length.text, load.text, limit.text);
                free(format!("(cumulative {} of {start}, {start} + {length}, {load}, {limit})", over.text))
            }
            19 => free("$busy"),
            20 => self.atom(scope),
            _ => self.comparison(depth - 1, scope),
        }
    }

    fn joined(&mut self, depth: usize, scope: &Scope, word: &str) -> Said {
        let parts: Vec<String> =
            (0..self.stream.between(2, 3)).map(|_| format!("({})", self.truth(depth - 1, scope).text)).collect();
        free(format!("({})", parts.join(&format!(" {word} "))))
    }

    fn listed(&mut self, depth: usize, scope: &Scope) -> Said {
        let parts = self.one_in(3);
        let value = |grow: &mut Self, depth: usize| match parts {
            true => grow.part(depth, scope, false).text,
            false => grow.number(depth, scope).text,
        };
        let item = value(self, depth - 1);
        let list: Vec<String> = (0..self.stream.between(1, 4)).map(|_| value(self, 0)).collect();
        let found = format!("{item} in {{{}}}", list.join(", "));
        free(if self.one_in(2) { found } else { format!("(not ({found}))") })
    }
}

/// What a fold ranges over.
struct Over {
    text: String,
    /// What the `of` part sees.
    body: Scope,
}
