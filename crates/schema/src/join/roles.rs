//! Roles of a joined domain: one role in each of its members.

use super::AND;
use crate::model::{Access, Domain, Member, Role};

/// The roles that a joined domain lists: the first of each member together, the second of each, and so on; a member with fewer
/// keeps its last.
pub(super) fn levels(members: &[Member], shared: &[Access]) -> Vec<Role> {
    let most = members.iter().map(|member| member.roles.len()).max().unwrap_or_default();
    let level = |at: usize| {
        let own: Vec<Option<&Role>> =
            members.iter().map(|member| member.roles.get(at).or(member.roles.last())).collect();
        together(members, &own, shared)
    };
    (0..most).map(level).collect()
}

/// One role in each member; where there is none, nothing may be done but what everybody may.
fn together(members: &[Member], own: &[Option<&Role>], shared: &[Access]) -> Role {
    let mut names = Vec::new();
    let mut access = shared.to_vec();
    for (member, role) in members.iter().zip(own) {
        match role {
            Some(role) => {
                names.push(format!("{}.{}", member.name, role.name));
                access.extend(role.access.iter().cloned());
            }
            None => access.extend(member.tables.clone().map(|_| Access::default())),
        }
    }
    Role { name: names.join(&AND.to_string()), access }
}

impl Domain {
    /// Any role that can be played in a joined domain, such as `csm.agent+itsm.manager`: in any order, at most one for each
    /// member. In a member that is not named nothing may be done.
    pub fn joined_role(&self, name: &str) -> Option<Role> {
        let mut own: Vec<Option<&Role>> = vec![None; self.members.len()];
        for part in name.split(AND) {
            let (domain, role) = part.split_once('.')?;
            let at = self.members.iter().position(|member| member.name == domain)?;
            let role = self.members[at].roles.iter().find(|known| known.name == role)?;
            if own[at].replace(role).is_some() {
                return None;
            }
        }
        Some(together(&self.members, &own, &self.shared))
    }

    /// The role that a joined role has in a member, by its name.
    pub fn role_in<'r>(&self, joined: &'r str, member: usize) -> Option<&'r str> {
        let name = &self.members.get(member)?.name;
        joined
            .split(AND)
            .find_map(|part| part.split_once('.').filter(|(domain, _)| domain == name))
            .map(|(_, role)| role)
    }
}
