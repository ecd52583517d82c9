//! The cases of a domain, told as cases of a joined world that it is a member of: the same calls by the names that the joined
//! world gives to tables, tools, roles and rules.

use benchwright_schema::{Domain, Member};

/// The text of a file of cases as it is for a member of a joined domain. Cases in which a person acts are left out, for in a
/// joined world that person is somebody in every member; `None` if no case is left, or the file asks for a seeded world.
pub fn cases_of_member(text: &str, joined: &Domain, member: &Member) -> Option<String> {
    let mut teller = Teller { joined, member, out: String::new(), cases: 0 };
    let mut case: Vec<String> = Vec::new();
    let (mut giving, mut is_told, mut has_step) = (false, true, true);
    for line in text.lines() {
        if line.starts_with("world ") && teller.cases == 0 {
            return None;
        }
        if let Some(title) = line.strip_prefix("--- ") {
            teller.keep(&case, is_told);
            case = vec![format!("--- {}", teller.title(title))];
            (giving, is_told, has_step) = (false, true, false);
            continue;
        }
        let trimmed = line.trim();
        let is_indented = line.starts_with(' ');
        let told = if trimmed.is_empty() || trimmed.starts_with('#') {
            line.to_owned()
        } else if trimmed == "given" {
            giving = true;
            line.to_owned()
        } else if giving && is_indented {
            teller.given(trimmed)
        } else {
            giving = false;
            if !has_step && !line.starts_with("as ") {
                case.push(format!("as {}.{}", member.name, teller.usual_role()));
            }
            has_step = true;
            is_told &= !(line.starts_with("as ") && trimmed.split_whitespace().count() > 2);
            if is_indented { teller.change(trimmed) } else { teller.step(trimmed) }
        };
        case.push(told);
    }
    teller.keep(&case, is_told);
    (teller.cases > 0).then_some(teller.out)
}

struct Teller<'d> {
    joined: &'d Domain,
    member: &'d Member,
    out: String,
    cases: usize,
}

impl Teller<'_> {
    /// Keeps the lines of a case, or those before the first.
    fn keep(&mut self, lines: &[String], is_told: bool) {
        let is_case = lines.first().is_some_and(|line| line.starts_with("--- "));
        if is_told {
            self.cases += usize::from(is_case);
            lines.iter().for_each(|line| self.out.extend([line, "\n"]));
        }
    }

    fn rule(&self, rule: &str) -> String {
        format!("{}/{}", self.member.name, rule.trim())
    }

    /// The role that acts where a case names none.
    fn usual_role(&self) -> &str {
        match &self.member.roles[..] {
            [only] => &only.name,
            _ => "admin",
        }
    }

    fn title(&self, title: &str) -> String {
        for word in ["keeps ", "breaks "] {
            if let Some((rule, rest)) = title.strip_prefix(word).and_then(|rest| rest.split_once(':')) {
                return format!("{word}{}:{rest}", self.rule(rule));
            }
        }
        title.to_owned()
    }

    fn given(&self, line: &str) -> String {
        let (label, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        format!("  {label} {}.{}", self.member.name, rest.trim_start())
    }

    /// A line of a diff: a sign, the table, the row.
    fn change(&self, line: &str) -> String {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim_start();
        let table = rest.split_whitespace().next().unwrap_or_default();
        // What there is once keeps its name.
        match self.joined.table_named(table) {
            Some(_) => format!("  {sign} {rest}"),
            None => format!("  {sign} {}.{rest}", self.member.name),
        }
    }

    fn step(&self, line: &str) -> String {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "as" => format!("as {}.{}", self.member.name, rest.trim()),
            "call" => {
                let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
                let at = self.member.tool_names.iter().position(|own| own == tool);
                let served = at.and_then(|at| self.joined.tools.get(self.member.tools.start + at));
                format!("call {} {arguments}", served.map_or(tool, |tool| &tool.name))
            }
            "=>" => match rest.strip_prefix("refused ").and_then(|refused| refused.split_once(' ')) {
                Some((code, rule)) => format!("=> refused {code} {}", self.rule(rule)),
                None => line.to_owned(),
            },
            "broken" if rest.trim() != "nothing" => {
                let rules: Vec<String> = rest.split(',').map(|rule| self.rule(rule)).collect();
                format!("broken {}", rules.join(", "))
            }
            _ => line.to_owned(),
        }
    }
}
