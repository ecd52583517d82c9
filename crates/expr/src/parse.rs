//! The parser, by recursive descent with one function per level of `GRAMMAR.md`: from tokens to an untyped syntax tree with
//! places. Nothing is resolved here: whether `t(…)` is a table, a fact or a function, and what a name means, the checker
//! decides. It stops at the first fault, because what follows one in a text of this length is rarely news.

use crate::fault::Fault;
use crate::lex::{Kind as Token, Token as Lexed, lex};
use crate::{Compare, FoldKind, TextOp, Unit};

/// The longest text that is read, in bytes.
pub(crate) const LONGEST: usize = 16 * 1024;
/// How deep brackets and operators may nest, and twice how high the tree may grow: a hostile text must not exhaust the
/// stack of whoever walks the tree.
const DEEPEST: u16 = 64;

/// A name and where it stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Name<'t> {
    pub(crate) at: usize,
    pub(crate) text: &'t str,
}

/// A piece of syntax.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node<'t> {
    /// Where it begins, or where its operator stands.
    pub(crate) at: usize,
    /// The length of its longest branch.
    height: u16,
    pub(crate) kind: Kind<'t>,
}

/// What a piece of syntax is. Names of operators are those of the grammar; a condition and a value look alike here.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind<'t> {
    /// `a.b.c`, or a single word of whatever meaning.
    Path(Vec<Name<'t>>),
    Number(&'t str),
    Text(String),
    Negative(Box<Node<'t>>),
    Not(Box<Node<'t>>),
    And(Vec<Node<'t>>),
    Or(Vec<Node<'t>>),
    Implies(Box<Node<'t>>, Box<Node<'t>>),
    Compare(Compare, Box<Node<'t>>, Box<Node<'t>>),
    TextTest(TextOp, Box<Node<'t>>, Box<Node<'t>>),
    In {
        item: Box<Node<'t>>,
        list: Vec<Node<'t>>,
        negated: bool,
    },
    InAncestors {
        item: Box<Node<'t>>,
        path: Box<Node<'t>>,
        negated: bool,
    },
    Add(Box<Node<'t>>, Box<Node<'t>>),
    Sub(Box<Node<'t>>, Box<Node<'t>>),
    Mul(Box<Node<'t>>, Box<Node<'t>>),
    Span(Box<Node<'t>>, Unit),
    /// `name(arguments).path`
    Call {
        name: Name<'t>,
        arguments: Vec<Node<'t>>,
        path: Vec<Name<'t>>,
    },
    Fold(Box<FoldNode<'t>>),
}

/// A fold as written; its parts are those of [`crate::Fold`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FoldNode<'t> {
    pub(crate) kind: FoldKind,
    pub(crate) binders: Vec<BinderNode<'t>>,
    pub(crate) body: Vec<Node<'t>>,
    /// `else` of `min` and `max`, or the limit of `cumulative`.
    pub(crate) outer: Option<Node<'t>>,
}

/// A variable as written, `x in source`; without a name in folds such as `exists t(…)`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BinderNode<'t> {
    pub(crate) name: Option<Name<'t>>,
    pub(crate) source: SourceNode<'t>,
    pub(crate) condition: Option<Node<'t>>,
}

/// What a variable ranges over, as written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SourceNode<'t> {
    /// `t(f = e, …)`
    Rows { name: Name<'t>, filters: Vec<Node<'t>> },
    /// `t`, a relation or a set
    Named(Name<'t>),
    /// `1..5`
    Range { at: usize, low: i64, high: i64 },
}

/// A rule as written: the binders of `per`, and the body.
pub(crate) type RuleNode<'t> = (Vec<BinderNode<'t>>, Node<'t>);

type Parsed<T> = Result<T, Fault>;

/// Reads a condition or a value.
pub(crate) fn expression(text: &str) -> Result<Node<'_>, Vec<Fault>> {
    whole(text, Parser::expression)
}

/// Reads `t(…)` or `t`.
pub(crate) fn source(text: &str) -> Result<SourceNode<'_>, Vec<Fault>> {
    whole(text, Parser::source)
}

/// Reads `[per binders [where p]:] truth`.
pub(crate) fn rule(text: &str) -> Result<RuleNode<'_>, Vec<Fault>> {
    whole(text, |parser| {
        let mut binders = Vec::new();
        if parser.is_word(0, "per") && parser.plain_word(1).is_some() {
            parser.next += 1;
            binders = parser.binders()?;
        }
        Ok((binders, parser.expression()?))
    })
}

/// Reads a whole text with one of the parser's functions; anything left over is a fault.
fn whole<'t, T>(text: &'t str, read: impl FnOnce(&mut Parser<'t>) -> Parsed<T>) -> Result<T, Vec<Fault>> {
    if text.len() > LONGEST {
        let message = format!("the expression is longer than {LONGEST} bytes");
        return Err(vec![Fault { offset: LONGEST, message, help: None }]);
    }
    let mut faults = Vec::new();
    let tokens = lex(text, &mut faults);
    if !faults.is_empty() {
        // What the parser would say of a text with holes follows from the holes.
        return Err(faults);
    }
    let mut parser = Parser { text, tokens, next: 0, depth: 0 };
    let result = read(&mut parser).and_then(|read| match parser.peek(0) {
        Token::End => Ok(read),
        _ => Err(parser.wanted("an operator or the end")),
    });
    result.map_err(|fault| vec![fault])
}

/// Words that join two parts and so never begin a value.
fn is_operator(word: &str) -> bool {
    const OPERATORS: [&str; 11] =
        ["and", "or", "not", "implies", "in", "contains", "starts_with", "ends_with", "of", "where", "else"];
    OPERATORS.contains(&word)
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "second" | "seconds" => Unit::Seconds,
        "minute" | "minutes" => Unit::Minutes,
        "hour" | "hours" => Unit::Hours,
        "day" | "days" => Unit::Days,
        "month" | "months" => Unit::Months,
        _ => return None,
    })
}

/// The fold that a word begins, if a source follows it.
fn fold_kind(word: &str) -> Option<FoldKind> {
    Some(match word {
        "exists" => FoldKind::Exists,
        "none" => FoldKind::None,
        "all" | "for" => FoldKind::All,
        "count" => FoldKind::Count,
        "sum" => FoldKind::Sum,
        "min" => FoldKind::Min,
        "max" => FoldKind::Max,
        "no_overlap" => FoldKind::NoOverlap,
        "cumulative" => FoldKind::Cumulative,
        _ => return None,
    })
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Lexed<'t>>,
    /// The token that is read next.
    next: usize,
    /// How many recursive calls of the grammar are open.
    depth: u16,
}

impl<'t> Parser<'t> {
    fn peek(&self, ahead: usize) -> &Token<'t> {
        self.tokens.get(self.next + ahead).map_or(&Token::End, |token| &token.kind)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).or(self.tokens.last()).map_or(0, |token| token.at)
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(self.peek(ahead), Token::Word(found) if *found == word)
    }

    fn is_sign(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek(ahead), Token::Sign(found) if *found == sign)
    }

    /// A word that is no operator.
    fn plain_word(&self, ahead: usize) -> Option<&'t str> {
        match self.peek(ahead) {
            Token::Word(word) if !is_operator(word) => Some(word),
            _ => None,
        }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let eaten = self.is_word(0, word);
        self.next += usize::from(eaten);
        eaten
    }

    fn eat(&mut self, sign: &str) -> bool {
        let eaten = self.is_sign(0, sign);
        self.next += usize::from(eaten);
        eaten
    }

    fn wanted(&self, what: &str) -> Fault {
        let got = match self.peek(0) {
            Token::Word(word) | Token::Number(word) => format!("`{word}`"),
            Token::Text(text) => format!("the text '{text}'"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".to_owned(),
        };
        Fault { offset: self.at(), message: format!("wanted {what}, got {got}"), help: None }
    }

    fn want(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.wanted(&format!("`{sign}`"))) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name<'t>> {
        let at = self.at();
        match self.plain_word(0) {
            Some(text) => {
                self.next += 1;
                Ok(Name { at, text })
            }
            None => Err(self.wanted(what)),
        }
    }

    /// The name of a relation, which may have its domain's before it: `user`, `csm.user`.
    fn relation(&mut self, what: &str) -> Parsed<Name<'t>> {
        let first = self.name(what)?;
        let Some(own) = self.plain_word(1).filter(|_| self.is_sign(0, ".")) else { return Ok(first) };
        let end = self.tokens.get(self.next + 1).map_or(first.at, |token| token.at + own.len());
        match self.text.get(first.at..end) {
            // With a space between them they are two names.
            Some(text) if text.len() == first.text.len() + 1 + own.len() => {
                self.next += 2;
                Ok(Name { at: first.at, text })
            }
            _ => Ok(first),
        }
    }

    fn too_deep(&self) -> Fault {
        let message = format!("nests deeper than {DEEPEST} levels");
        Fault { offset: self.at(), message, help: Some("split it into several rules".to_owned()) }
    }

    /// Every recursion of the grammar goes through here.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Makes a node. Chains such as `a + a + a` grow the tree without recursion here, so its height is bounded as well.
    fn node(&self, at: usize, kind: Kind<'t>) -> Parsed<Node<'t>> {
        let height = 1 + height_below(&kind);
        if height > 2 * DEEPEST { Err(self.too_deep()) } else { Ok(Node { at, height, kind }) }
    }

    /// The lowest level: `implies`, to the right.
    fn expression(&mut self) -> Parsed<Node<'t>> {
        self.deeper(|p| {
            let left = p.disjunction()?;
            let at = p.at();
            if !p.eat_word("implies") {
                return Ok(left);
            }
            let right = p.expression()?;
            p.node(at, Kind::Implies(Box::new(left), Box::new(right)))
        })
    }

    fn disjunction(&mut self) -> Parsed<Node<'t>> {
        self.list("or", Self::conjunction, Kind::Or)
    }

    fn conjunction(&mut self) -> Parsed<Node<'t>> {
        self.list("and", Self::negation, Kind::And)
    }

    /// `x word x word x` as one node of all of them, or the only `x` by itself.
    fn list(
        &mut self,
        word: &str,
        read: fn(&mut Self) -> Parsed<Node<'t>>,
        make: fn(Vec<Node<'t>>) -> Kind<'t>,
    ) -> Parsed<Node<'t>> {
        let first = read(self)?;
        let at = self.at();
        if !self.is_word(0, word) {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.eat_word(word) {
            items.push(read(self)?);
        }
        self.node(at, make(items))
    }

    fn negation(&mut self) -> Parsed<Node<'t>> {
        let at = self.at();
        if !self.eat_word("not") {
            return self.comparison();
        }
        let inner = self.deeper(Self::negation)?;
        self.node(at, Kind::Not(Box::new(inner)))
    }

    fn comparison(&mut self) -> Parsed<Node<'t>> {
        let left = self.sum()?;
        let at = self.at();
        let op = match self.peek(0) {
            Token::Sign("=") => Compare::Eq,
            Token::Sign("!=") => Compare::Ne,
            Token::Sign("<") => Compare::Lt,
            Token::Sign("<=") => Compare::Le,
            Token::Sign(">") => Compare::Gt,
            Token::Sign(">=") => Compare::Ge,
            Token::Word(word) => return self.word_comparison(left, at, word),
            _ => return Ok(left),
        };
        self.next += 1;
        let right = self.sum()?;
        self.node(at, Kind::Compare(op, Box::new(left), Box::new(right)))
    }

    fn word_comparison(&mut self, left: Node<'t>, at: usize, word: &str) -> Parsed<Node<'t>> {
        let op = match word {
            "contains" => TextOp::Contains,
            "starts_with" => TextOp::StartsWith,
            "ends_with" => TextOp::EndsWith,
            "in" => return self.membership(left, at, false),
            "not" if self.is_word(1, "in") => {
                self.next += 1;
                return self.membership(left, at, true);
            }
            _ => return Ok(left),
        };
        self.next += 1;
        let right = self.sum()?;
        self.node(at, Kind::TextTest(op, Box::new(left), Box::new(right)))
    }

    fn membership(&mut self, item: Node<'t>, at: usize, negated: bool) -> Parsed<Node<'t>> {
        self.next += 1;
        let item = Box::new(item);
        if self.is_word(0, "ancestors") && self.is_sign(1, "(") {
            self.next += 2;
            let path = Box::new(self.deeper(Self::sum)?);
            self.want(")")?;
            return self.node(at, Kind::InAncestors { item, path, negated });
        }
        if !self.is_sign(0, "{") {
            return Err(self.wanted("`{` or `ancestors(`"));
        }
        self.next += 1;
        let mut list = Vec::new();
        loop {
            list.push(self.deeper(Self::sum)?);
            if self.eat("}") {
                return self.node(at, Kind::In { item, list, negated });
            }
            if !self.eat(",") {
                return Err(self.wanted("`,` or `}`"));
            }
        }
    }

    fn sum(&mut self) -> Parsed<Node<'t>> {
        let mut left = self.product()?;
        loop {
            let at = self.at();
            let make = match self.peek(0) {
                Token::Sign("+") => Kind::Add,
                Token::Sign("-") => Kind::Sub,
                _ => return Ok(left),
            };
            self.next += 1;
            let right = self.product()?;
            left = self.node(at, make(Box::new(left), Box::new(right)))?;
        }
    }

    fn product(&mut self) -> Parsed<Node<'t>> {
        let mut left = self.signed()?;
        loop {
            let at = self.at();
            if !self.eat("*") {
                return Ok(left);
            }
            let right = self.signed()?;
            left = self.node(at, Kind::Mul(Box::new(left), Box::new(right)))?;
        }
    }

    fn signed(&mut self) -> Parsed<Node<'t>> {
        let at = self.at();
        if self.eat("-") {
            let inner = self.deeper(Self::signed)?;
            return self.node(at, Kind::Negative(Box::new(inner)));
        }
        let inner = self.atom()?;
        let at = self.at();
        match self.plain_word(0).and_then(unit) {
            Some(unit) => {
                self.next += 1;
                self.node(at, Kind::Span(Box::new(inner), unit))
            }
            None => Ok(inner),
        }
    }

    fn atom(&mut self) -> Parsed<Node<'t>> {
        let at = self.at();
        match self.peek(0).clone() {
            Token::Number(digits) => {
                self.next += 1;
                self.node(at, Kind::Number(digits))
            }
            Token::Text(text) => {
                self.next += 1;
                self.node(at, Kind::Text(text))
            }
            Token::Sign("(") => {
                self.next += 1;
                let inner = self.expression()?;
                self.want(")")?;
                Ok(inner)
            }
            Token::Word(word) if !is_operator(word) => match fold_kind(word) {
                Some(kind) if self.source_follows() => self.deeper(|p| p.fold(at, word, kind)),
                _ => self.named(),
            },
            _ => Err(self.wanted("a value")),
        }
    }

    /// Whether what follows a word such as `count` makes it a fold. Otherwise it is a name like any other: no two names
    /// follow each other but for a unit.
    fn source_follows(&self) -> bool {
        self.plain_word(1).is_some_and(|next| {
            let opens = |ahead: usize| self.is_sign(ahead, "(") || self.is_word(ahead, "in");
            unit(next).is_none() || opens(2)
        })
    }

    /// A path, or something with arguments.
    fn named(&mut self) -> Parsed<Node<'t>> {
        let is_dotted = self.is_sign(1, ".") && self.plain_word(2).is_some() && self.is_sign(3, "(");
        let name = if is_dotted { self.relation("a name")? } else { self.name("a name")? };
        if !self.eat("(") {
            let mut path = vec![name];
            self.steps(&mut path)?;
            return self.node(name.at, Kind::Path(path));
        }
        let arguments = self.arguments()?;
        let mut path = Vec::new();
        self.steps(&mut path)?;
        self.node(name.at, Kind::Call { name, arguments, path })
    }

    fn steps(&mut self, path: &mut Vec<Name<'t>>) -> Parsed<()> {
        while self.eat(".") {
            path.push(self.name("a field")?);
        }
        Ok(())
    }

    /// Arguments or filters up to the closing bracket.
    fn arguments(&mut self) -> Parsed<Vec<Node<'t>>> {
        let mut list = Vec::new();
        if self.eat(")") {
            return Ok(list);
        }
        loop {
            list.push(self.expression()?);
            if self.eat(")") {
                return Ok(list);
            }
            if !self.eat(",") {
                return Err(self.wanted("`,` or `)`"));
            }
        }
    }

    /// A fold from the word that begins it.
    fn fold(&mut self, at: usize, word: &str, mut kind: FoldKind) -> Parsed<Node<'t>> {
        self.next += 1;
        if word == "for" {
            let binders = self.binders()?;
            let body = vec![self.expression()?];
            return self.node(at, Kind::Fold(Box::new(FoldNode { kind, binders, body, outer: None })));
        }
        if kind == FoldKind::Count && self.is_word(0, "distinct") && self.plain_word(1).is_some() {
            self.next += 1;
            kind = FoldKind::CountDistinct;
        }
        let mut binder = self.binder_of_fold()?;
        if kind != FoldKind::All && self.eat_word("where") {
            binder.condition = Some(self.expression()?);
        }
        let (mut body, mut outer) = (Vec::new(), None);
        match kind {
            FoldKind::Exists | FoldKind::None | FoldKind::Count => {}
            FoldKind::All => body.push(self.expression()?),
            FoldKind::CountDistinct | FoldKind::Sum | FoldKind::Min | FoldKind::Max => {
                self.want_of()?;
                body.push(self.product()?);
                if matches!(kind, FoldKind::Min | FoldKind::Max) && self.eat_word("else") {
                    outer = Some(self.product()?);
                }
            }
            FoldKind::NoOverlap => {
                self.want_of()?;
                body = self.values(2)?;
            }
            FoldKind::Cumulative => {
                self.want_of()?;
                body = self.values(4)?;
                outer = body.pop();
            }
        }
        self.node(at, Kind::Fold(Box::new(FoldNode { kind, binders: vec![binder], body, outer })))
    }

    fn want_of(&mut self) -> Parsed<()> {
        if self.eat_word("of") { Ok(()) } else { Err(self.wanted("`of`")) }
    }

    /// So many values between commas.
    fn values(&mut self, count: usize) -> Parsed<Vec<Node<'t>>> {
        let mut list = vec![self.sum()?];
        while list.len() < count {
            self.want(",")?;
            list.push(self.sum()?);
        }
        Ok(list)
    }

    /// `t(…)`, `x in t(…)`, `x in set` or `x in 1..5`.
    fn binder_of_fold(&mut self) -> Parsed<BinderNode<'t>> {
        if self.plain_word(0).is_some() && self.is_word(1, "in") {
            return self.binder();
        }
        let name = self.relation("a table")?;
        self.want("(")
            .map_err(|fault| Fault { help: Some(format!("write `{}()` for all its rows", name.text)), ..fault })?;
        let source = SourceNode::Rows { name, filters: self.arguments()? };
        Ok(BinderNode { name: None, source, condition: None })
    }

    fn binder(&mut self) -> Parsed<BinderNode<'t>> {
        let name = Some(self.name("a variable")?);
        if !self.eat_word("in") {
            return Err(self.wanted("`in`"));
        }
        Ok(BinderNode { name, source: self.source()?, condition: None })
    }

    /// The variables of `for` and `per`, with their condition and the colon.
    fn binders(&mut self) -> Parsed<Vec<BinderNode<'t>>> {
        let mut last = self.binder()?;
        let mut list = Vec::new();
        while self.eat(",") {
            list.push(std::mem::replace(&mut last, self.binder()?));
        }
        if self.eat_word("where") {
            // The last variable carries the condition: there all of them are bound.
            last.condition = Some(self.expression()?);
        }
        self.want(":")?;
        list.push(last);
        Ok(list)
    }

    fn source(&mut self) -> Parsed<SourceNode<'t>> {
        let at = self.at();
        if matches!(self.peek(0), Token::Number(_) | Token::Sign("-")) {
            let low = self.bound()?;
            self.want("..")?;
            return Ok(SourceNode::Range { at, low, high: self.bound()? });
        }
        let name = self.relation("a table, a set or a range")?;
        if !self.eat("(") {
            return Ok(SourceNode::Named(name));
        }
        Ok(SourceNode::Rows { name, filters: self.arguments()? })
    }

    /// An end of a range.
    fn bound(&mut self) -> Parsed<i64> {
        let sign = if self.eat("-") { -1 } else { 1 };
        match self.peek(0) {
            Token::Number(digits) => match digits.parse::<i64>() {
                Ok(number) => {
                    self.next += 1;
                    Ok(sign * number)
                }
                Err(_) => Err(self.wanted("a whole number")),
            },
            _ => Err(self.wanted("a whole number")),
        }
    }
}

/// The length of the longest branch below a node that is about to be made of these parts.
fn height_below(kind: &Kind<'_>) -> u16 {
    let highest = |list: &[Node<'_>]| list.iter().map(|node| node.height).max().unwrap_or(0);
    match kind {
        Kind::Path(_) | Kind::Number(_) | Kind::Text(_) => 0,
        Kind::Negative(a) | Kind::Not(a) | Kind::Span(a, _) => a.height,
        Kind::And(list) | Kind::Or(list) | Kind::Call { arguments: list, .. } => highest(list),
        Kind::Implies(a, b)
        | Kind::Compare(_, a, b)
        | Kind::TextTest(_, a, b)
        | Kind::InAncestors { item: a, path: b, .. }
        | Kind::Add(a, b)
        | Kind::Sub(a, b)
        | Kind::Mul(a, b) => a.height.max(b.height),
        Kind::In { item, list, .. } => item.height.max(highest(list)),
        Kind::Fold(fold) => {
            let binders = fold.binders.iter().map(|binder| {
                let filters = match &binder.source {
                    SourceNode::Rows { filters, .. } => highest(filters),
                    _ => 0,
                };
                filters.max(binder.condition.as_ref().map_or(0, |node| node.height))
            });
            let outer = fold.outer.as_ref().map_or(0, |node| node.height);
            binders.max().unwrap_or(0).max(highest(&fold.body)).max(outer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree in prefix form, brackets showing what binds what.
    fn shape(node: &Node<'_>) -> String {
        let both = |sign: &str, a: &Node<'_>, b: &Node<'_>| format!("({sign} {} {})", shape(a), shape(b));
        let many = |sign: &str, list: &[Node<'_>]| {
            format!("({sign} {})", list.iter().map(shape).collect::<Vec<_>>().join(" "))
        };
        match &node.kind {
            Kind::Path(path) => path.iter().map(|name| name.text).collect::<Vec<_>>().join("."),
            Kind::Number(digits) => (*digits).to_owned(),
            Kind::Text(text) => format!("'{text}'"),
            Kind::Negative(a) => format!("(neg {})", shape(a)),
            Kind::Not(a) => format!("(not {})", shape(a)),
            Kind::And(list) => many("and", list),
            Kind::Or(list) => many("or", list),
            Kind::Implies(a, b) => both("implies", a, b),
            Kind::Compare(op, a, b) => both(&format!("{op:?}"), a, b),
            Kind::TextTest(op, a, b) => both(&format!("{op:?}"), a, b),
            Kind::In { item, list, negated } => format!("({negated} {} {})", shape(item), many("in", list)),
            Kind::InAncestors { item, path, .. } => both("ancestors", item, path),
            Kind::Add(a, b) => both("+", a, b),
            Kind::Sub(a, b) => both("-", a, b),
            Kind::Mul(a, b) => both("*", a, b),
            Kind::Span(a, unit) => format!("({unit:?} {})", shape(a)),
            Kind::Call { name, arguments, .. } => many(name.text, arguments),
            Kind::Fold(fold) => many(&format!("{:?}", fold.kind), &fold.body),
        }
    }

    #[test]
    fn what_binds_tighter_is_read_first() {
        let table = [
            ("a implies b implies c", "(implies a (implies b c))"),
            ("a or b and not c = d", "(or a (and b (not (Eq c d))))"),
            ("not a in {b, c}", "(not (false a (in b c)))"),
            ("a not in {b}", "(true a (in b))"),
            ("a - b - c * -d", "(- (- a b) (* c (neg d)))"),
            ("now + 60 days", "(+ now (Days 60))"),
            ("-(a + b) hours", "(neg (Hours (+ a b)))"),
            ("2 * 3 days", "(* 2 (Days 3))"),
            ("sum t() of a * b + c", "(+ (Sum (* a b)) c)"),
            ("min t() of a else 1 + c", "(+ (Min a) c)"),
            ("min(a, b) + count", "(+ (min a b) count)"),
            ("all t() a or b", "(All (or a b))"),
            ("none or (a)", "(or none a)"),
            ("count days = days", "(Eq (Days count) days)"),
            ("a implies for x in s, y in 1..5 where x < y: x = y", "(implies a (All (Eq x y)))"),
        ];
        for (text, expected) in table {
            assert_eq!(shape(&expression(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn deep_and_long_texts_are_refused_without_a_deep_stack() {
        let nests = [
            "(".repeat(5000) + "a",
            "not ".repeat(4000) + "a",
            "-".repeat(9000) + "a",
            "a implies ".repeat(1600) + "a",
            "a + ".repeat(4000) + "a",
            "exists x in t() where ".repeat(700) + "a",
            "all t() ".repeat(2000) + "a",
            "f(".repeat(5000),
        ];
        for text in nests {
            let faults = expression(&text).unwrap_err();
            assert_eq!(faults[0].message, "nests deeper than 64 levels", "{}", &text[..20]);
        }
        let faults = expression(&"a".repeat(LONGEST + 1)).unwrap_err();
        assert_eq!((faults[0].offset, &*faults[0].message), (LONGEST, "the expression is longer than 16384 bytes"));
    }
}
