//! What a task may ask beyond its tier, by a *dial*: `medium-twin` is a case that differs in one figure from the one that `medium` draws, and
//! whose best plan is another (`twin`); `medium-ask` asks besides the plan what the best plan would be worth if some figure were
//! otherwise (`ask`); in `medium-over` not all limits can be kept, and waiving some has its price (`over`); `medium-front` asks for several
//! plans, the best one and the best ones under tighter and tighter bounds on a second measure (`front`).
//!
//! A dial adds to the records, files, forms and rules of a workflow and leaves its other tiers as they are, so nothing has to be written for
//! it but, in `planning.toml`, which figures may move, what the second measure is, and which tiers there are. The forms that are handed in
//! stand with the others.

use benchwright_project::Draw;

/// The form of what is waived.
pub(crate) const WAIVERS: &str = "waivers";
/// The form of answers.
pub(crate) const ANSWERS: &str = "answers";
/// A form of options is called as the form that it stands for, with this behind.
pub(crate) const OF_OPTIONS: &str = "_options";

/// What is asked beyond a tier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Dial {
    Twin,
    Ask,
    Over,
    Front,
}

impl Dial {
    /// All of them.
    pub(crate) const ALL: [Dial; 4] = [Dial::Twin, Dial::Ask, Dial::Over, Dial::Front];

    /// Its word in a tier, and the switch of its cases.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Dial::Twin => "twin",
            Dial::Ask => "ask",
            Dial::Over => "over",
            Dial::Front => "front",
        }
    }

    /// The dial of a tier, with the tier that it is turned at.
    pub(crate) fn of(tier: &str) -> Option<(&str, Dial)> {
        let (plain, word) = tier.split_once('-')?;
        Dial::ALL.into_iter().find(|dial| dial.word() == word).map(|dial| (plain, dial))
    }

    /// The draw of the task that it is turned at: what is drawn is the same, and so are the words.
    pub(crate) fn plain<'a>(draw: &Draw<'a>) -> Draw<'a> {
        Draw { tier: Dial::of(draw.tier).map_or(draw.tier, |(plain, _)| plain), ..draw.clone() }
    }

    /// Whether a form is one that only its tasks hand in.
    pub(crate) fn has_form(self, name: &str) -> bool {
        match self {
            Dial::Twin => false,
            Dial::Ask => name == ANSWERS,
            Dial::Over => name == WAIVERS,
            Dial::Front => name.ends_with(OF_OPTIONS),
        }
    }
}
