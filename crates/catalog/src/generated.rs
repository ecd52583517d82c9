//! The code of domains, parts and families, by the names of their folders. Written by `cargo xtask domains`, which also
//! gives this crate its dependencies on them.

use benchwright_project::Family;
use benchwright_sandbox::Natives;

/// The code of the tools of domains.
pub(crate) static NATIVES: &[(&str, &Natives)] = &[
    ("calendar", benchwright_domain_calendar::NATIVES),
    ("csm", benchwright_domain_csm::NATIVES),
    ("drive", benchwright_domain_drive::NATIVES),
    ("email", benchwright_domain_email::NATIVES),
    ("erp", benchwright_domain_erp::NATIVES),
    ("hr", benchwright_domain_hr::NATIVES),
    ("itsm", benchwright_domain_itsm::NATIVES),
    ("teams", benchwright_domain_teams::NATIVES),
];

/// The code of the tools of parts.
pub(crate) static PART_NATIVES: &[(&str, &Natives)] = &[
    ("grid", benchwright_domain_grid::NATIVES),
    ("planning", benchwright_domain_planning::NATIVES),
];

/// The families.
pub(crate) static FAMILIES: &[(&str, &dyn Family)] = &[
    ("erp", &benchwright_family_erp::FAMILY),
];

/// What makes the families of the domains that include a part.
pub(crate) static PART_FAMILIES: &[(&str, crate::NewFamily)] = &[
    ("grid", benchwright_family_grid::family),
];
