//! Finds families by name. Most are one for all domains; the family of a part is made anew for each domain that includes it,
//! from what that domain tells the part.

use crate::{Catalog, CatalogError, generated, parts};
use benchwright_base::nearest;
use benchwright_project::Family;
use std::fmt;

/// A family with its name.
type Named = (String, &'static dyn Family);

/// Families that a program adds to those it was built with.
#[derive(Clone, Default)]
pub(crate) struct Further(Vec<Named>);

impl fmt::Debug for Further {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Catalog {
    /// The same catalogue with one more family. A family of that name which the program was built with is hidden by it.
    #[must_use]
    pub fn with_family(mut self, name: &str, family: &'static dyn Family) -> Catalog {
        self.families.0.retain(|(known, _)| known != name);
        self.families.0.push((name.to_owned(), family));
        self
    }

    /// A family by its name, for tasks in a domain.
    pub fn family(&self, name: &str, domain: &str) -> Result<&'static dyn Family, CatalogError> {
        let known = |(known, family): &Named| (known == name).then_some(*family);
        let own = self.families.0.iter().find_map(known);
        let built_in = || generated::FAMILIES.iter().find(|(known, _)| *known == name).map(|(_, family)| *family);
        if let Some(family) = own.or_else(built_in) {
            return Ok(family);
        }
        let no_family = |help: String| CatalogError::NoFamily { name: name.to_owned(), help };
        if generated::PART_FAMILIES.iter().any(|(part, _)| *part == name) {
            // A joined world is no domain of its own that could tell a part something.
            let family = match domain.contains('+') {
                true => None,
                false => parts::family(&self.folder_of(domain)?, name)?,
            };
            return family
                .ok_or_else(|| no_family(format!(" on `{domain}`, which does not include the part `{name}`")));
        }
        let further = self.families.0.iter().map(|(name, _)| &**name);
        let all = generated::FAMILIES.iter().map(|(name, _)| *name);
        let all: Vec<&str> = all.chain(generated::PART_FAMILIES.iter().map(|(name, _)| *name)).chain(further).collect();
        Err(no_family(match nearest(name, all.iter().copied()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!("; there are: {}", all.join(", ")),
        }))
    }

    /// The families that a domain has because of what it is: the one of its own name, and those of the parts it includes.
    /// Others may have tasks in it too.
    pub fn families_of(&self, domain: &str) -> Result<Vec<(String, &'static dyn Family)>, CatalogError> {
        let own = generated::FAMILIES.iter().find(|(name, _)| *name == domain);
        let mut families: Vec<Named> = own.map(|(name, family)| ((*name).to_owned(), *family)).into_iter().collect();
        let folder = self.folder_of(domain)?;
        for (part, _) in generated::PART_FAMILIES {
            families.extend(parts::family(&folder, part)?.map(|family| ((*part).to_owned(), family)));
        }
        Ok(families)
    }
}
